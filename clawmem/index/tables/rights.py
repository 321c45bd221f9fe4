"""What a reader of an index may see: the rows that are not for them are not there, for every query.

Views of the same names, which SQLite finds before the tables, leave them out, and so do the keyword engines. Whatever
asks the index then answers, counts and ranks as if they did not exist.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from clawmem.errors import NotFound
from clawmem.index.tables.keyword import KeywordEngine, Match
from clawmem.index.tables.store import Index
from clawmem.model.records.access import (
    GRANTS_PATH,
    Grant,
    Person,
    Policy,
    mark_in,
    parse_grants,
    policy_from,
    verdict,
)
from clawmem.model.records.layout import ACCESS
from clawmem.model.records.strict_json import refuse_unread
from clawmem.model.search.passage import row_of
from clawmem.vault.strict_yaml import parse_yaml
from clawmem.vault.vault import Vault

Allows = Callable[[str], bool]
"""Whether a reader may see what has a mark, as text."""
_EVERY = 1_000_000
_HINT = re.compile(r" INDEXED BY \w+")  # a view has no index
_DENIED = "CREATE TEMP TABLE denied_{0} (n INTEGER PRIMARY KEY)"
_SUM = "SELECT facts - ?, seals - ? FROM main.total"
# The notes and pages of a memory are written for those who may see all of it; an agent also has its own.
_VIEWS = {
    "event": "SELECT * FROM main.event WHERE n NOT IN (SELECT n FROM denied_event)"
    " AND NOT (sitting = '' AND place IN (SELECT n FROM denied_event))",
    "fact": "SELECT * FROM main.fact WHERE n NOT IN (SELECT n FROM denied_fact)",
    "note": "SELECT * FROM main.note WHERE n NOT IN (SELECT n FROM denied_note)",
    "edge": "SELECT * FROM main.edge WHERE n NOT IN (SELECT n FROM denied_fact)",
    "entity": "SELECT * FROM main.entity WHERE name IN (SELECT entity FROM fact)",
    "alias": "SELECT * FROM main.alias WHERE name IN (SELECT entity FROM fact)",
    "dispute": "SELECT * FROM main.dispute WHERE target IN (SELECT id FROM fact)",
    "broken": "SELECT * FROM main.broken WHERE 0",
}


class AccessRules(NamedTuple):
    """The policy of a vault and its grants, oldest first."""

    policy: Policy
    grants: tuple[Grant, ...]


def read_access(vault: Vault) -> AccessRules | None:
    """Return who may see what, or None where the vault has no policy: then everybody may see everything. Raise
    Unreadable if a file of it is: nobody may be shown too much by a mistake in it."""
    vault = vault.present or vault  # who may see what was said is decided now
    if vault.path(ACCESS).is_file():
        data = vault.read(GRANTS_PATH)
        refuse_unread(data, GRANTS_PATH)
        policy = policy_from(vault.load_yaml(ACCESS))
        return AccessRules(policy, parse_grants(data or b"", GRANTS_PATH, parse_yaml))
    return None


def readers_of(vault: Vault, rules: AccessRules | None) -> tuple[Person, ...]:
    """Return those for whom the vault is read; empty for one who may see everything. Raise NotFound if one of them is
    not in the policy, or there is none."""
    if vault.reader is None:
        return ()
    if rules is None:
        if vault.reader.names:
            raise NotFound(
                f"This memory has no {ACCESS}, so nobody knows what {vault.reader.names[0]} may see.",
                "Write one (docs/access.md), or leave out --reader and CLAWMEM_READER.",
            )
        return ()
    found = [rules.policy.people.get(vault.reader.agent or "")]
    for name in vault.reader.names:
        person = rules.policy.person(name)
        if person is None:
            raise NotFound(
                f"{ACCESS} has no person '{name}', so nothing is shown.",
                f"It has {', '.join(rules.policy.people) or 'none'}.",
            )
        found.append(person)
    return tuple(filter(None, found))


def marked_for(vault: Vault, index: Index, name: str, moment: str) -> set[str]:
    """Return the ids of the marked messages that a person may see; none where the vault has no policy or no such
    person."""
    rules = read_access(vault)
    person = rules.policy.person(name) if rules else None
    if rules is None or person is None:
        return set()
    rows = index.database.execute("SELECT id, mark FROM event WHERE mark IS NOT NULL").fetchall()
    return {event_id for event_id, mark in rows if verdict(*rules, person, mark_in(mark), moment).allowed}


def is_restricted(vault: Vault) -> bool:
    """Return whether the vault is read for somebody who may not see everything."""
    return vault.reader is not None and bool(readers_of(vault, read_access(vault)))


@contextmanager
def for_reader(vault: Vault, index: Index) -> Iterator[None]:
    """Let the index show only what those for whom the vault is read may see, each of them."""
    rules = None if vault.reader is None else read_access(vault)
    readers = readers_of(vault, rules)
    if rules is None or vault.reader is None or not readers:
        yield
        return
    moment, owner = vault.reader.moment(), vault.reader.agent or ""
    policy, grants = rules

    def allows(text: str) -> bool:
        mark = mark_in(text)
        return all(verdict(policy, grants, person, mark, moment).allowed for person in readers)

    with restricted(index, allows, owner):
        yield


@contextmanager
def restricted(index: Index, allows: Allows, owner: str) -> Iterator[None]:
    """Let the index show only what `allows` lets through, and notes only of the agent `owner` ('' for none)."""
    database, engines = index.database, (index.engine, index.passage_engine)
    facts, events, notes = _denied(database, allows, owner)
    marked = {n: len(rows) for n, rows in enumerate((facts, events, notes))}
    try:
        _put_views(database, {"fact": facts, "event": events, "note": notes})
        index.database = _Unhinted(database)  # type: ignore[assignment]
        index.is_restricted = True
        if any(marked.values()):
            index.engine = _Permitted(engines[0], facts)
            index.passage_engine = _Permitted(engines[1], events, notes)
        yield
    finally:
        index.database, index.is_restricted = database, False
        index.engine, index.passage_engine = engines
        for name in ("total", *_VIEWS):
            database.execute(f"DROP {'TABLE' if name == 'total' else 'VIEW'} IF EXISTS temp.{name}")
        for name in ("fact", "event", "note"):
            database.execute(f"DROP TABLE IF EXISTS temp.denied_{name}")


def _denied(database: sqlite3.Connection, allows: Allows, owner: str) -> tuple[set[int], set[int], set[int]]:
    """Return the rows of facts, events and notes that the reader may not see. What was learned from a message is for
    those who may see the message."""
    marks = {
        mark
        for table in ("fact", "event")
        for (mark,) in database.execute(f"SELECT DISTINCT mark FROM main.{table} WHERE mark IS NOT NULL")
    }
    refused = json.dumps([mark for mark in marks if not allows(mark)])
    of_marks = "mark IS NOT NULL AND mark IN (SELECT value FROM json_each(?))"
    events = {n for (n,) in database.execute(f"SELECT n FROM main.event WHERE {of_marks}", (refused,))}
    facts = {n for (n,) in database.execute(f"SELECT n FROM main.fact WHERE {of_marks}", (refused,))}
    learned = (
        "SELECT fact.n FROM json_each(?) AS given CROSS JOIN main.event ON event.n = given.value"
        " CROSS JOIN main.fact ON fact.event = event.id"
    )
    facts |= {n for (n,) in database.execute(learned, (json.dumps(sorted(events)),))}
    notes = {n for (n,) in database.execute("SELECT n FROM main.note WHERE owner != ? OR owner = ''", (owner,))}
    return facts, events, notes


def _put_views(database: sqlite3.Connection, denied: dict[str, set[int]]) -> None:
    for name, rows in denied.items():
        database.execute(_DENIED.format(name))
        database.executemany(f"INSERT INTO temp.denied_{name} VALUES (?)", ((n,) for n in rows))
    lost = "SELECT count(*), coalesce(sum(seal), 0) FROM main.fact WHERE n IN (SELECT n FROM temp.denied_fact)"
    counted = database.execute(lost).fetchone()
    for name, query in _VIEWS.items():
        database.execute(f"CREATE TEMP VIEW {name} AS {query}")
    facts, seals = database.execute(_SUM, counted).fetchone()
    database.execute("CREATE TEMP TABLE total (facts INTEGER NOT NULL, seals INTEGER NOT NULL)")
    database.execute("INSERT INTO temp.total VALUES (?, ?)", (facts, seals))


class _Unhinted:
    """The connection of an index whose queries name no index."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    def execute(self, query: str, values: Any = ()) -> sqlite3.Cursor:
        """Run a query."""
        return self._database.execute(_HINT.sub("", query), values)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._database, name)


class _Permitted:
    """A keyword engine without the texts of some rows: it ranks, counts and knows the words of the others alone."""

    def __init__(self, engine: KeywordEngine, rows: Collection[int], notes: Collection[int] | None = None) -> None:
        self._engine = engine
        self._rows = rows
        self._notes = notes
        self.name = engine.name

    def _allowed(self, n: int) -> bool:
        if self._notes is None:
            return n not in self._rows
        row = row_of(n)
        return -row not in self._notes if row < 0 else row not in self._rows

    def search(self, words: Sequence[str], limit: int, thorough: bool = False) -> list[Match]:
        """Return the best texts, as `KeywordEngine.search` does."""
        wide = 2 * limit
        while True:
            found = self._engine.search(words, wide, thorough)
            allowed = [match for match in found if self._allowed(match.n)]
            if len(allowed) >= limit or len(found) < wide:
                return allowed[:limit]
            wide *= 4

    def search_among(self, rows: Collection[int], words: Sequence[str], limit: int) -> list[Match]:
        """Return the best of some texts, as `KeywordEngine.search_among` does."""
        return self._engine.search_among([n for n in rows if self._allowed(n)], words, limit)

    def having(self, rows: Collection[int], words: Sequence[str]) -> set[int]:
        """Return those of some texts that have one of the words."""
        return self._engine.having([n for n in rows if self._allowed(n)], words)

    def terms(self, begin: str) -> list[str]:
        """Return the words that begin with some letters, of texts that are allowed."""
        return [word for word in self._engine.terms(begin) if self.count([word], 1)]

    def count(self, words: Sequence[str], most: int) -> int:
        """Return how many texts contain one of the words, at most `most`."""
        found = self._engine.search(words, _EVERY, thorough=True)
        return min(most, sum(self._allowed(match.n) for match in found))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)
