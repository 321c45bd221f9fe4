"""Classify what a clause says: one module per kind of statement."""
