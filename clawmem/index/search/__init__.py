"""Queries of the index: by words, by value, by time, by tier, and along the graph."""
