"""Whether the log of the hub and its tables agree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import isclose
from typing import TYPE_CHECKING, Any, NamedTuple

from clawmem.extensions.hub.postgres.rows import (
    COMMIT,
    ENTITY,
    ENTITY_GONE,
    FACT,
    FACT_GONE,
    REMOVED,
    REWRITTEN,
    SHARED,
    UNSHARED,
    LogRow,
    TakenCommit,
    begin_snapshot,
    fact_row,
    link_rows,
    log_of,
    orphans,
    table_rows,
    vaults_of,
)

if TYPE_CHECKING:
    from clawmem.extensions.hub.postgres.connect import HubConnection


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
    rows: Mapping[str, int]
    log_rows: int
    differences: tuple[Difference, ...]


def verify(connection: HubConnection, org: str | None = None) -> Verified:
    """Fold the log of each vault and compare the result with the tables, in one snapshot. Needs an open transaction.
    The transaction must not have read anything yet, as its isolation level is set here."""
    begin_snapshot(connection)
    vaults = vaults_of(connection, org)
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
    return Verified(len(vaults), counts, seen, tuple(differences))


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
            body = row.body
            self._commits[row.subject] = TakenCommit(body["author"], body["at"], body["subject"], body["parents"])
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
        commits = {
            (name,): {
                "commit": name, "position": number, "parent": next(iter(commit.parents), None), "at": commit.at,
                "author": commit.author, "subject": commit.subject,
            }
            for number, (name, commit) in enumerate(self._commits.items(), 1)
        }  # fmt: skip
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
