"""Detect prompt injection: orders hidden in text."""
