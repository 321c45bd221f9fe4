"""The transaction: lock, changes, commit, recovery."""
