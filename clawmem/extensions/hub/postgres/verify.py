"""Reading the log and the tables of one vault, to compare them, and looking for text that must be gone."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from clawmem.extensions.hub.postgres.rows import LogRow
from clawmem.model.language.dates import stamp

if TYPE_CHECKING:
    from clawmem.extensions.hub.postgres.connect import HubConnection

_KEYS = {
    "fact": ("id",), "link": ("fact", "type", "target"), "entity": ("entity",), "author": ("author",),
    "taken_commit": ("commit",),
}  # fmt: skip
# What the database computes by itself from other columns, and what a model or the rules for orders say.
_DERIVED = ("org", "vault", "text_search", "promoted", "embedding", "waits")
_PIECE = 2000


class FoundText(NamedTuple):
    """A table of the hub, or the mirrors, where a text was found, and in how many rows."""

    table: str
    rows: int


def begin_snapshot(connection: HubConnection) -> None:
    """Make the transaction that begins now see one state of the hub, and write nothing."""
    connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")


def vaults_of(connection: HubConnection, org: str | None) -> list[tuple[str, str, str, str | None]]:
    """Return organisation, id, scope and head of the vaults of an organisation, or of all."""
    return connection.execute(
        "SELECT org, vault, scope, head FROM clawmem.vault WHERE %s::text IS NULL OR org = %s ORDER BY org, vault",
        (org, org),
    ).fetchall()


def scope_of(connection: HubConnection, org: str, vault: str) -> str:
    """Return the scope of a vault of the hub."""
    found = connection.execute("SELECT scope FROM clawmem.vault WHERE org = %s AND vault = %s", (org, vault)).fetchone()
    return str(found[0]) if found else ""


def orphans(connection: HubConnection, org: str | None) -> Iterator[tuple[str, str, str]]:
    """Yield table, organisation and vault of rows whose vault the hub does not have."""
    for table in _KEYS:
        for of_org, vault in connection.execute(
            f"SELECT DISTINCT org, vault FROM clawmem.{table} t WHERE (%s::text IS NULL OR org = %s)"
            " AND NOT EXISTS (SELECT FROM clawmem.vault v WHERE v.org = t.org AND v.vault = t.vault)",
            (org, org),
        ).fetchall():
            yield table, of_org, vault


def log_of(connection: HubConnection, org: str, vault: str, until: datetime | None = None) -> Iterator[LogRow]:
    """Yield the rows of a vault's log in order, up to a time. Needs an open transaction."""
    with connection.cursor(name="clawmem_log") as cursor:
        cursor.itersize = _PIECE
        cursor.execute(
            "SELECT kind, subject, commit, body FROM clawmem.log WHERE org = %s AND vault = %s"
            " AND (%s::timestamptz IS NULL OR at <= %s) ORDER BY seq",
            (org, vault, until, until),
        )
        for kind, subject, commit, body in cursor:
            yield LogRow(kind, subject, commit, body or {})


def table_rows(connection: HubConnection, table: str, org: str, vault: str) -> dict[tuple[Any, ...], dict[str, Any]]:
    """Return the rows of a table for a vault by their keys, without the columns that the database computes."""
    cursor = connection.execute(
        f"SELECT * FROM clawmem.{table} WHERE org = %s AND vault = %s",
        (org, vault),
    )
    names = [column.name for column in cursor.description or ()]
    found = {}
    for values in cursor:
        row = {name: _plain(value) for name, value in zip(names, values, strict=True) if name not in _DERIVED}
        found[tuple(row[name] for name in _KEYS[table])] = row
    return found


def find_text(connection: HubConnection, text: str) -> tuple[FoundText, ...]:
    """Return the tables of the hub that contain a text, in any column, in any case, also as JSON writes it."""
    tables = [
        name
        for (name,) in connection.execute(
            "SELECT c.relname FROM pg_class c WHERE c.relnamespace = 'clawmem'::regnamespace"
            " AND c.relkind IN ('r', 'p') AND NOT c.relispartition ORDER BY 1"
        )
    ]
    # The row as JSON writes a text as JSON does, in columns of text and inside of JSON.
    pattern = _pattern(json.dumps(text, ensure_ascii=False)[1:-1])
    found = []
    for table in tables:
        count = connection.execute(
            f'SELECT count(*) FROM clawmem."{table}" t WHERE to_jsonb(t)::text ILIKE %s', (pattern,)
        ).fetchone()
        if count and count[0]:
            found.append(FoundText(table, int(count[0])))
    return tuple(found)


def vacuum_fully(connection: HubConnection) -> Sequence[str]:
    """Write the tables that follow vaults anew, so that their files have no deleted rows. Return their names.

    Each table is locked meanwhile. The connection must be in autocommit mode.
    """
    tables = [
        name
        for (name,) in connection.execute(
            "SELECT c.relname FROM pg_class c WHERE c.relnamespace = 'clawmem'::regnamespace"
            " AND c.relkind = 'r' ORDER BY 1"
        )
    ]
    for table in tables:
        connection.execute(f'VACUUM (FULL, ANALYZE) clawmem."{table}"')
    return tables


def _pattern(text: str) -> str:
    """Return the pattern of LIKE that finds a text anywhere."""
    escaped = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"


def _plain(value: Any) -> Any:
    return stamp(value) if isinstance(value, datetime) else value
