"""Build context: text for a prompt within a token budget."""
