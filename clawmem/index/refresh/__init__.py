"""Updating the index to HEAD."""
