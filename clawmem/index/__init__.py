"""The derived index: keyword, value, time, graph and semantic search over the committed vault."""
