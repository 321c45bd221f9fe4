"""Learning: turn events into facts."""
