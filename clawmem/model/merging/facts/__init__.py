"""Merge the facts of two versions of a vault."""
