"""Entities, agents, and where a fact belongs."""
