"""Files of two versions merged, each by its kind."""
