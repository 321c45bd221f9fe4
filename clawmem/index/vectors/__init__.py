"""Semantic search: embedding vectors, the models that compute them, and their store."""
