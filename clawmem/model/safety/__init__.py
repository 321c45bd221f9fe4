"""Text that must not enter, come out, or be obeyed."""
