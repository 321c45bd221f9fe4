"""Ranking of facts, events and passages, and the vectors for it."""
