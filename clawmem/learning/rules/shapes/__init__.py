"""What a clause says: one module for each kind of statement."""
