"""Proposals that wait for a person, and quarantine."""
