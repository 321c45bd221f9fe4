"""Promotion: the facts of a day that are worth thirty days."""
