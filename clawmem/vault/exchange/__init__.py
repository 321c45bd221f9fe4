"""Remotes, bundles, backups, and the creation of a vault."""
