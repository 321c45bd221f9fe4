"""Formats in which other programs keep memories."""
