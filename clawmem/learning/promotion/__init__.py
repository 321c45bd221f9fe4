"""Promotion: choose the facts of a day that are worth keeping for thirty days."""
