"""Orders hidden in text."""
