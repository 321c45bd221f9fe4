"""The agent's working day: workflows, sessions, lessons, decisions and digestion."""
