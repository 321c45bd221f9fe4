"""The schema of the hub: numbered SQL files, applied once each, in order, forward only."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from importlib.resources import files
from typing import TYPE_CHECKING, NamedTuple

from clawmem.errors import HubVersion

if TYPE_CHECKING:
    from clawmem.extensions.hub.postgres.connect import HubConnection

# A lock of the server, so that two programs do not migrate at once.
_LOCK = 0x636C6177


class Migration(NamedTuple):
    """One SQL file: its number, its name and the SHA-256 of its text."""

    number: int
    name: str
    digest: str
    sql: str


@lru_cache
def known_migrations() -> tuple[Migration, ...]:
    """Return the migrations of this program, by number."""
    found = []
    for file in files("clawmem.extensions.hub.postgres").joinpath("sql").iterdir():
        number, _, name = file.name.removesuffix(".sql").partition("_")
        text = file.read_text(encoding="utf-8")
        found.append(Migration(int(number), name, hashlib.sha256(text.encode()).hexdigest(), text))
    return tuple(sorted(found))


def migrate(connection: HubConnection, last: int | None = None) -> tuple[Migration, ...]:
    """Apply the migrations that a database lacks, each in one transaction, up to number `last`. Return these.

    Raise HubVersion if the database has one that this program does not know, or one with another text.
    """
    _prepare(connection)
    items = []
    for migration in known_migrations():
        if last is not None and migration.number > last:
            break
        with connection.transaction():
            # Another program may have applied it while this one waited.
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
            if migration.number in _applied(connection):
                continue
            connection.execute(migration.sql)
            connection.execute(
                "INSERT INTO clawmem.migration (number, name, digest) VALUES (%s, %s, %s)",
                (migration.number, migration.name, migration.digest),
            )
            items.append(migration)
    connection.commit()
    return tuple(items)


def _prepare(connection: HubConnection) -> None:
    """Make the schema and the table of migrations; check what was applied before."""
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
        connection.execute("CREATE SCHEMA IF NOT EXISTS clawmem")
        connection.execute(
            "CREATE TABLE IF NOT EXISTS clawmem.migration (number integer PRIMARY KEY, name text NOT NULL,"
            " digest text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())"
        )
        # Everybody who may use the schema sees its version.
        connection.execute("GRANT SELECT ON clawmem.migration TO PUBLIC")
        applied = _applied(connection)
    here = {migration.number: migration for migration in known_migrations()}
    for number, digest in sorted(applied.items()):
        if number not in here:
            raise HubVersion(
                f"The schema of the hub is newer than this program: it has migration {number:04}.",
                "Update clawmem here.",
            )
        if here[number].digest != digest:
            raise HubVersion(
                f"Migration {number:04} of the hub has another text than the one of this program.",
                "Use the version of clawmem that made this hub, or one after it.",
            )


def _applied(connection: HubConnection) -> dict[int, str]:
    return dict(connection.execute("SELECT number, digest FROM clawmem.migration").fetchall())
