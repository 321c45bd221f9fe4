"""Sessions of an agent's work: start, notes, checkpoints and end."""
