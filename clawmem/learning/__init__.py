"""Acts that turn events into facts."""
