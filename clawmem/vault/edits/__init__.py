"""Edits made by hand: found, checked, committed."""
