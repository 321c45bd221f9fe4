"""Fixtures of the tests that need a hub."""

from tests.extensions.hub.postgres.server import database, empty_database, server

__all__ = ["database", "empty_database", "server"]
