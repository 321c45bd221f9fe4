"""One module a verb, and their table."""
