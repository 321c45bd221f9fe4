"""Edits made by hand: finding, checking and committing them."""
