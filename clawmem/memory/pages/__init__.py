"""Generated pages: summaries, MEMORY.md, daily notes."""
