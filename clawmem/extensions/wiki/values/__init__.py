"""Pure parts of the wiki: its pages and links, what the curator finds, the report of a week, and the graph."""
