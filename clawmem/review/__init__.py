"""Proposals: who decides them, what an approval does, and how people decided."""
