"""Running git, and its configuration."""
