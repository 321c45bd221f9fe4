"""The agent's working day: workflows, sessions, lessons and decisions."""
