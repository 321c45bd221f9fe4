"""The transaction: read set, changes, commit, recovery."""
