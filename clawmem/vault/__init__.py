"""Storage: the only package that writes vault files or runs git."""
