"""The only code that a user meets."""
