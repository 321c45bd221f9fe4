"""The order of search results."""
