"""Entities, events, changes, and where they are kept."""
