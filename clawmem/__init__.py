"""A long-term memory for AI agents that a person can read, diff and undo."""

__version__ = "0.1.0"
