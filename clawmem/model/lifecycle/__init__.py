"""Supersession, reinforcement, and tiers."""
