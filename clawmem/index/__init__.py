"""The derived index: delete it and nothing is lost."""
