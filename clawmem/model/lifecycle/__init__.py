"""Rules for the life of a fact: supersession, reinforcement, tiers and archiving."""
