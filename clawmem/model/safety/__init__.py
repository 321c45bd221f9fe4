"""Checks of text: credentials, prompt injection, recalled text and redaction."""
