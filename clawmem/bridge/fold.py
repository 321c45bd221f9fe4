"""The state of a vault in the hub, folded from its log: what the tables must have."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from clawmem.index.hub.rows import (
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
    fact_row,
    link_rows,
)

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
