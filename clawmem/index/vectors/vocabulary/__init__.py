"""The vocabulary of the local embedding model, and the model's vector of each piece."""
