"""English grammar and word lists for the rules."""
