"""Remotes, bundles, and the creation of a vault."""
