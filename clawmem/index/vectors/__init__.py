"""Search by meaning: vectors, the models that make them, and their store."""
