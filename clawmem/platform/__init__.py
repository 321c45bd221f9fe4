"""What differs between operating systems: locks, files and processes (docs/internals.md)."""
