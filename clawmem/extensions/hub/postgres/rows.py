"""The rows of the hub's tables for a state of a fact or an entity, and whether the log and the tables agree."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from importlib.resources import files
from math import isclose
from typing import TYPE_CHECKING, Any, NamedTuple

from clawmem.errors import HubVersion
from clawmem.model.facts.codec import fact_from_record
from clawmem.model.facts.fact import pointers
from clawmem.model.language.dates import moment_of, stamp

if TYPE_CHECKING:
    from clawmem.extensions.hub.postgres.connect import HubConnection


COMMIT, FACT, FACT_GONE, ENTITY, ENTITY_GONE = "commit", "fact", "fact-gone", "entity", "entity-gone"
UNREADABLE, REWRITTEN, REMOVED = "unreadable", "rewritten", "removed"
SHARED, UNSHARED = "shared", "unshared"

# A key of an index has at most 2,704 bytes, and a full text at most 1 MB.
_MOST_OF_KEY, _MOST_OF_TEXT = 600, 100_000


class LogRow(NamedTuple):
    """One row of the log: what happened (`kind`), to what (`subject`), in which commit, and its content."""

    kind: str
    subject: str
    commit: str | None
    body: Mapping[str, Any]


class TakenCommit(NamedTuple):
    """A commit as the log has it: its author as `Name <address>`, its time (UTC, to the second), and its subject."""

    author: str
    at: str
    subject: str
    parents: Sequence[str] = ()


def taken_commit(body: Mapping[str, Any]) -> TakenCommit:
    """Return the commit of the body of a row of the log."""
    return TakenCommit(body["author"], body["at"], body["subject"], tuple(body["parents"]))


def commit_rows(commits: Mapping[str, TakenCommit]) -> list[dict[str, Any]]:
    """Return the columns of `taken_commit`, without `org` and `vault`, for commits by their names, in order."""
    return [
        {
            "commit": name, "position": number, "parent": next(iter(commit.parents), None), "at": commit.at,
            "author": commit.author, "subject": commit.subject,
        }
        for number, (name, commit) in enumerate(commits.items(), 1)
    ]  # fmt: skip


def fact_row(fact_id: str, scope: str, scopes: Sequence[str], body: Mapping[str, Any], commit: str, taken: TakenCommit) -> dict[str, Any]:  # fmt: skip # noqa: E501
    """Return the columns of `fact` for a row of the log about it, without `org` and `vault`."""
    record = body["record"]
    fact = fact_from_record(record)
    return {
        "id": fact_id, "scope": scope, "scopes": list(scopes), "entity": body["entity"],
        "claim": fact.fact[:_MOST_OF_TEXT], "category": fact.category, "subject": fact.subject,
        "predicate": fact.predicate, "object": fact.object, "status": fact.status, "confidence": fact.confidence,
        "importance": fact.importance, "trust": fact.trust, "timestamp": _moment(fact.timestamp, taken.at),
        "valid_from": fact.valid_from, "valid_to": fact.valid_to, "source": fact.source,
        "source_event": fact.source_event, "agent": fact.agent, "workflow": fact.workflow, "project": fact.project,
        "reach": fact.scope, "tags": list(fact.tags), "superseded_by": fact.superseded_by, "author": taken.author,
        "commit": commit, "path": body["path"], "line": body["line"], "recorded_at": taken.at, "record": record,
    }  # fmt: skip


def link_rows(fact_id: str, scopes: Sequence[str], record: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the columns of `link` for a fact, without `org` and `vault`: one row for each kind and target."""
    fact = fact_from_record(record)
    reasons = {(link.type, link.to): link.reason for link in fact.links}
    found = {(kind, target[:_MOST_OF_KEY]): reasons.get((kind, target)) for kind, target in pointers(fact)}
    return [
        {"fact": fact_id, "type": kind, "target": target, "scopes": list(scopes), "reason": reason}
        for (kind, target), reason in sorted(found.items())
    ]


def _moment(text: str, instead: str) -> str:
    """Return a written time as the database takes it, or another one if it is none."""
    try:
        return stamp(moment_of(text))
    except (ValueError, OverflowError):
        return instead


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
        pairs = ((name, value) for name, value in zip(names, values, strict=True) if name not in _DERIVED)
        row = {name: stamp(value) if isinstance(value, datetime) else value for name, value in pairs}
        found[tuple(row[name] for name in _KEYS[table])] = row
    return found


def find_text(connection: HubConnection, text: str) -> tuple[FoundText, ...]:
    """Return the tables of the hub that contain a text, in any column, in any case, also as JSON writes it."""
    # The row as JSON writes a text as JSON does, in columns of text and inside of JSON.
    pattern = f"%{in_like(json.dumps(text, ensure_ascii=False)[1:-1])}%"
    query = 'SELECT count(*) FROM clawmem."{}" t WHERE to_jsonb(t)::text ILIKE %s'
    tables = _tables(connection, "c.relkind IN ('r', 'p') AND NOT c.relispartition")
    found = (FoundText(table, first_value(connection, query.format(table), (pattern,))) for table in tables)
    return tuple(text for text in found if text.rows)


def vacuum_fully(connection: HubConnection) -> Sequence[str]:
    """Write the tables that follow vaults anew, so that their files have no deleted rows. Return their names. Each
    table is locked meanwhile. The connection must be in autocommit mode."""
    tables = _tables(connection, "c.relkind = 'r'")
    for table in tables:
        connection.execute(f'VACUUM (FULL, ANALYZE) clawmem."{table}"')
    return tables


def _tables(connection: HubConnection, kinds: str) -> list[str]:
    rows = connection.execute(
        f"SELECT c.relname FROM pg_class c WHERE c.relnamespace = 'clawmem'::regnamespace AND {kinds} ORDER BY 1"
    )
    return [name for (name,) in rows]


def in_like(text: str) -> str:
    """Return a text as a pattern of LIKE that finds exactly it."""
    return text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def first_value(connection: HubConnection, query: str, values: Sequence[Any] = ()) -> Any:
    """Return the first column of the first row that a query gives, or None if it gives none."""
    row = connection.execute(query, values).fetchone()
    return row[0] if row else None


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
            raise newer_schema(number)
        if here[number].digest != digest:
            raise HubVersion(
                f"Migration {number:04} of the hub has another text than the one of this program.",
                "Use the version of clawmem that made this hub, or one after it.",
            )


def newer_schema(number: int) -> HubVersion:
    """Return the error that a hub has a migration that this program does not know."""
    return HubVersion(
        f"The schema of the hub is newer than this program: it has migration {number:04}.", "Update clawmem here."
    )


def _applied(connection: HubConnection) -> dict[int, str]:
    return dict(connection.execute("SELECT number, digest FROM clawmem.migration").fetchall())


MISSING, EXTRA, DIFFERS = "missing", "extra", "differs"


class Difference(NamedTuple):
    """A row of a table that is not what the log says: `how` is missing, extra or differs, in which columns."""

    org: str
    vault: str
    table: str
    key: tuple[str, ...]
    how: str
    columns: tuple[str, ...] = ()


class Verified(NamedTuple):
    """What was compared: vaults, rows of the log, rows of the tables; and the differences."""

    vaults: int
    log_rows: int
    rows: Mapping[str, int]
    differences: tuple[Difference, ...]


def verify(connection: HubConnection, org: str | None = None) -> Verified:
    """Fold the log of each vault and compare the result with the tables, in one snapshot. Needs an open transaction.
    The transaction must not have read anything yet, as its isolation level is set here."""
    connection.execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
    vaults = connection.execute(
        "SELECT org, vault, scope, head FROM clawmem.vault WHERE %s::text IS NULL OR org = %s ORDER BY org, vault",
        (org, org),
    ).fetchall()
    counts: dict[str, int] = {}
    differences: list[Difference] = []
    seen = 0
    for of_org, vault, scope, head in vaults:
        rows = list(log_of(connection, of_org, vault))
        seen += len(rows)
        state = folded(scope, rows)
        wanted = state.rows()
        for table, expected in wanted.items():
            there = table_rows(connection, table, of_org, vault)
            counts[table] = counts.get(table, 0) + len(there)
            differences += (
                difference._replace(org=of_org, vault=vault) for difference in differing(table, expected, there)
            )
        if state.head() != head:
            differences.append(Difference(of_org, vault, "vault", (vault,), DIFFERS, ("head",)))
    differences += (Difference(of_org, vault, table, (), EXTRA) for table, of_org, vault in orphans(connection, org))
    return Verified(len(vaults), seen, counts, tuple(differences))


def differing(
    table: str,
    expected: Mapping[tuple[Any, ...], Mapping[str, Any]],
    there: Mapping[tuple[Any, ...], Mapping[str, Any]],
) -> Iterator[Difference]:  # fmt: skip
    """Yield the differences between the rows that the log gives and those of a table."""
    for key, row in expected.items():
        if key not in there:
            yield Difference("", "", table, key, MISSING)
            continue
        columns = tuple(name for name, value in row.items() if not _same(value, there[key].get(name)))
        unknown = tuple(name for name in there[key] if name not in row)
        if columns or unknown:
            yield Difference("", "", table, key, DIFFERS, columns + unknown)
    for key in there:
        if key not in expected:
            yield Difference("", "", table, key, EXTRA)


def _same(value: Any, other: Any) -> bool:
    """Return whether two values are equal; the database keeps some numbers with seven digits."""
    if isinstance(value, float) and isinstance(other, int | float):
        return isclose(value, other, rel_tol=1e-6, abs_tol=1e-9)
    return bool(value == other)


Rows = Mapping[str, Mapping[tuple[Any, ...], Mapping[str, Any]]]
"""Rows by table and primary key, without `org` and `vault`."""


class _Fact(NamedTuple):
    body: Mapping[str, Any]
    commit: str
    scopes: tuple[str, ...]


class Fold:
    """Folds the rows of one vault's log, in order. `scope` is that of the vault."""

    def __init__(self, scope: str) -> None:
        self._scope = scope
        self._facts: dict[str, _Fact] = {}
        self._entities: dict[str, LogRow] = {}
        self._commits: dict[str, TakenCommit] = {}

    def take(self, row: LogRow) -> None:
        """Take in the next row. A row whose body was emptied tells nothing, and a later one replaces what it did."""
        if row.kind in (REWRITTEN, REMOVED):
            self._facts, self._entities, self._commits = {}, {}, {}
        elif row.kind == FACT_GONE:
            known = self._facts.get(row.subject)
            if known is not None and (row.body or known.body)["path"] == known.body["path"]:
                del self._facts[row.subject]
        elif row.kind == ENTITY_GONE:
            self._entities.pop(row.subject, None)
        elif not row.body:
            return
        elif row.kind == COMMIT:
            self._commits[row.subject] = taken_commit(row.body)
        elif row.kind == FACT:
            known = self._facts.get(row.subject)
            self._facts[row.subject] = _Fact(row.body, row.commit or "", known.scopes if known else (self._scope,))
        elif row.kind == ENTITY:
            self._entities[row.subject] = row
        elif row.kind in (SHARED, UNSHARED) and row.subject in self._facts:
            known = self._facts[row.subject]
            scope = row.body["scope"]
            others = tuple(other_scope for other_scope in known.scopes if other_scope != scope)
            self._facts[row.subject] = known._replace(scopes=(*others, scope) if row.kind == SHARED else others)

    def head(self) -> str | None:
        """Return the last commit."""
        return next(reversed(self._commits), None)

    def facts(self) -> Iterator[dict[str, Any]]:
        """Yield the rows of `fact`."""
        for fact_id, fact in self._facts.items():
            yield fact_row(fact_id, self._scope, fact.scopes, fact.body, fact.commit, self._taken(fact.commit))

    def rows(self) -> Rows:
        """Return the rows that the tables must have."""
        facts = {(row["id"],): row for row in self.facts()}
        links = {
            (row["fact"], row["type"], row["target"]): row
            for fact_id, fact in self._facts.items()
            for row in link_rows(fact_id, fact.scopes, fact.body["record"])
        }
        entities = {
            (name,): {"entity": name, "commit": entity.commit, **entity.body} for name, entity in self._entities.items()
        }
        commits = {(row["commit"],): row for row in commit_rows(self._commits)}
        return {
            "fact": facts, "link": links, "entity": entities, "taken_commit": commits,
            "author": _authors(self._commits.values()),
        }  # fmt: skip

    def _taken(self, commit: str) -> TakenCommit:
        return self._commits.get(commit, TakenCommit("", "1970-01-01T00:00:00Z", ""))


def folded(scope: str, rows: Iterable[LogRow]) -> Fold:
    """Return the fold of some rows of the log."""
    state = Fold(scope)
    for row in rows:
        state.take(row)
    return state


def _authors(commits: Iterable[TakenCommit]) -> dict[tuple[Any, ...], dict[str, Any]]:
    found: dict[tuple[Any, ...], dict[str, Any]] = {}
    for commit in commits:
        row = found.setdefault((commit.author,), {"author": commit.author, "commits": 0, "last_at": commit.at})
        row["commits"] += 1
        row["last_at"] = max(row["last_at"], commit.at)
    return found
