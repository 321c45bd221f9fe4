"""Entities, events, changes, and reading JSON within limits."""
