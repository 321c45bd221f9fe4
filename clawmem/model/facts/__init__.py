"""The fact, its parts, and its form on disk."""
