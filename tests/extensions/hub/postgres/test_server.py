"""The server of the tests, and the schema as the program makes it."""

from __future__ import annotations

from clawmem.extensions.hub.postgres.connect import ask
from clawmem.extensions.hub.postgres.rows import known_migrations
from tests.extensions.hub.postgres.server import Database


def test_the_server_answers_and_has_the_schema(database: Database) -> None:
    numbers = ask(database.address(), 5, lambda hub: hub.execute("SELECT number FROM migration").fetchall())
    assert [number for (number,) in numbers] == [migration.number for migration in known_migrations()]
