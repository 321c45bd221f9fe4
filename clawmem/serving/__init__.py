"""Serving: read facts, events and notes from the index and turn them into answers and context."""
