"""The web: pages of the memory as HTML."""
