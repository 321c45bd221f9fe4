"""Storage: the only code that touches vault files or runs git."""
