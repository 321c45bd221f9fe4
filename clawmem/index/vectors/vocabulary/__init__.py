"""The vocabulary of the local embedding model, and its vector for each piece."""
