"""The vocabulary of the local model: its pieces of words, and what the model makes of each by itself."""
