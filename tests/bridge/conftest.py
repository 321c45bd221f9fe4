"""Fixtures of the tests that need a hub."""

from tests.hub.server import database, empty_database, server

__all__ = ["database", "empty_database", "server"]
