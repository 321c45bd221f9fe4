"""Recall: ranked facts, events and notes for a question."""
