"""Keeping the index in step with HEAD."""
