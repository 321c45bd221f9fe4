"""Fixtures of the hub's tests."""

from tests.hub.server import database, empty_database, server

__all__ = ["database", "empty_database", "server"]
