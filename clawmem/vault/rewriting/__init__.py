"""Rewriting history for a redaction."""
