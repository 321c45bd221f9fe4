"""Credentials in text."""
