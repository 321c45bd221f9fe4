"""Acts that turn facts into context."""
