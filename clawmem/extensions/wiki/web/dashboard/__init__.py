"""The dashboard: pages of the memory with decisions, served on loopback to one person."""
