"""Facts of two versions merged."""
