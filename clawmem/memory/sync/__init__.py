"""Sync with other machines, and completion of merges made by git."""
