"""Reading and joining histories."""
