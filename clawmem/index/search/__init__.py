"""Questions to the index: by words, by value, by day, along the graph."""
