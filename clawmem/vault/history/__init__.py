"""Reading and merging histories."""
