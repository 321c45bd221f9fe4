"""What doctor checks, one module for each kind of file or state."""
