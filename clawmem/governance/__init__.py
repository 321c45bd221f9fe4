"""Acts of governance: what a person decides about a memory that learns by itself."""
