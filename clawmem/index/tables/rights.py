"""What a viewer of an index may see: the rows that are not for them are not there, for every query.

Views of the same names, which SQLite finds before the tables, leave them out, and so do the keyword engines. Whatever
asks the index then answers and counts as if they did not exist; only how rare a word is, is counted over all texts.
A message of which only parts are for the viewer has these as its text, and is found by their words alone.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from typing import Any, NamedTuple

from clawmem.errors import NotFound, NotPermitted
from clawmem.index.tables.keyword import KeywordEngine, Match
from clawmem.index.tables.store import Index
from clawmem.model.facts.fact import FORGOTTEN, RETRACTED
from clawmem.model.language.text import counted
from clawmem.model.records.access import (
    ACCESS_HINT,
    GRANTS_PATH,
    AccessMark,
    Grant,
    Person,
    Policy,
    grants_to,
    mark_in,
    parse_grants,
    policy_from,
    verdict,
)
from clawmem.model.records.caller import Viewer
from clawmem.model.records.event import Event
from clawmem.model.records.layout import ACCESS
from clawmem.model.records.strict_json import checksum, refuse_unread
from clawmem.model.search.passage import PART, SPREAD, row_of
from clawmem.vault.strict_yaml import parse_yaml
from clawmem.vault.vault import Vault

Allows = Callable[[AccessMark], bool]
"""Whether a viewer may see what has a mark."""
IsOf = Callable[[Event], bool]  # whether a message is of a person
_HINT = re.compile(r" INDEXED BY \w+")  # a view has no index
_WRITE = re.compile(r"^(UPDATE|INSERT INTO|DELETE FROM) (?=\w+ )")  # what the index counts once for all
_HIDES = "{0}.mark IS NOT NULL AND {0}.mark NOT IN (SELECT mark FROM temp.allowed)"
_IN_PARTS = "mark IN (SELECT mark FROM temp.partly)"
_OF_FACT, _OF_EVENT, _OF_SOURCE = (_HIDES.format(name) for name in ("fact", "event", "source"))
_HIDDEN_SOURCE = f"SELECT 1 FROM main.event AS source WHERE {{}} AND {_OF_SOURCE}"
_GONE = " OR ".join(f"instr({{0}}.line, '\"{reason}')" for reason in FORGOTTEN)
_FORGOTTEN = f"({{0}}.status = '{RETRACTED}' AND ({_GONE}))"
# What was learned from a message is for those who may see the message, and what was to be forgotten for nobody.
_VISIBLE = f"NOT ({_HIDES}) AND NOT {_FORGOTTEN} AND ({{0}}.event IS NULL OR NOT EXISTS" + (
    f" ({_HIDDEN_SOURCE.format('source.id = {0}.event')}))"
)
# The notes and pages of a memory are written for those who may see all of it; an agent also has its own. Links name
# other facts, with reasons, and a fact may be replaced by one that the viewer may not see.
_HEIR = f"SELECT 1 FROM main.fact AS heir WHERE heir.id = json_extract(fact.line, '$.superseded_by') AND {_VISIBLE}"
_LINE = (
    f"CASE WHEN instr(line, '\"superseded_by\"') AND NOT EXISTS ({_HEIR.format('heir')})"
    " THEN json_remove(line, '$.links', '$.superseded_by')"
    " WHEN instr(line, '\"links\"') THEN json_remove(line, '$.links') ELSE line END"
)
# What differs in the rows that are shown.
_CHANGED = {
    "fact.line": f"{_LINE} AS line",
    "fact.seal": f"sealed(n, entity, {_LINE}) AS seal",
    **{
        f"event.{name}": f"CASE WHEN {_IN_PARTS} THEN {value} ELSE {name} END AS {name}"
        for name, value in {
            "line": "cut(line, mark)",
            "seal": "sealed(n, id, day, cut(line, mark))",
            "size": "length(json_extract(cut(line, mark), '$.text'))",
            "tokens": "NULL",
            "words": "NULL",
        }.items()
    },
}
_VIEWS = {
    "fact": f"SELECT {{columns}} FROM main.fact WHERE {_VISIBLE.format('fact')}",
    "event": f"SELECT {{columns}} FROM main.event WHERE (NOT ({_OF_EVENT}) OR {_IN_PARTS})"
    " AND (role != 'note' OR mark IS NOT NULL)"
    f" AND (sitting != '' OR NOT EXISTS ({_HIDDEN_SOURCE.format('source.n = event.place')}))",
    "note": "SELECT * FROM main.note WHERE owner != '' AND owner = (SELECT owner FROM temp.viewer)",
    "edge": "SELECT * FROM main.edge WHERE EXISTS (SELECT 1 FROM fact WHERE fact.n = edge.n)",
    "entity": "SELECT * FROM main.entity WHERE EXISTS (SELECT 1 FROM fact WHERE fact.entity = entity.name)",
    "alias": "SELECT * FROM main.alias WHERE EXISTS (SELECT 1 FROM fact WHERE fact.entity = alias.name)",
    "dispute": "SELECT * FROM main.dispute WHERE 0",
    "broken": "SELECT * FROM main.broken WHERE 0",
    "total": "SELECT facts - (SELECT count(*) FROM (SELECT n FROM main.fact WHERE "
    f"{_OF_FACT} UNION SELECT n FROM main.fact INDEXED BY fact_entity WHERE {_FORGOTTEN.format('fact')}"
    " UNION SELECT fact.n FROM main.event AS source CROSS JOIN main.fact ON fact.event = source.id"
    f" WHERE {_OF_SOURCE})) AS facts, (SELECT coalesce(sum(seal), 0) FROM fact) AS seals FROM main.total",
}


class AccessRules(NamedTuple):
    """The policy of a vault and its grants, oldest first."""

    policy: Policy
    grants: tuple[Grant, ...]


def read_access(vault: Vault) -> AccessRules | None:
    """Return who may see what, or None where the vault has no policy: then everybody may see everything. Raise
    Unreadable if a file of it is: nobody may be shown too much by a mistake in it."""
    vault = vault.present or vault  # who may see what was said is decided now
    if not os.path.lexists(vault.path(ACCESS)):
        return None
    policy = vault.read_once(ACCESS, lambda: policy_from(vault.load_yaml(ACCESS)))
    return AccessRules(policy, vault.read_once(GRANTS_PATH, lambda: _grants(vault)))


def _grants(vault: Vault) -> tuple[Grant, ...]:
    data = vault.read(GRANTS_PATH)
    refuse_unread(data, GRANTS_PATH)
    return parse_grants(data or b"", GRANTS_PATH, parse_yaml)


def viewers_of(vault: Vault, rules: AccessRules | None) -> tuple[Person, ...]:
    """Return those for whom the vault is read; empty where everything may be seen. An agent without an entry may see
    what is for everybody, and whoever may see `all` by a rule, everything. In the shell of an agent that agent counts,
    too, whatever agent is named. Raise NotFound if a person who is named is not in the policy, or there is none."""
    if vault.viewer is None:
        return ()
    if rules is None:
        if vault.viewer.names:
            raise NotFound(
                f"The memory has no {ACCESS}, so nobody knows what {vault.viewer.names[0]} may see.",
                f"Leave out --viewer and CLAWMEM_VIEWER. {ACCESS_HINT}",
            )
        return ()
    viewer, policy = vault.viewer, rules.policy
    agents = dict.fromkeys(agent for agent in (viewer.agent, viewer.shell) if agent)
    found = [policy.people.get(agent) or Person(id=agent) for agent in agents]
    for name in vault.viewer.names:
        person = policy.person(name)
        if person is None:
            hint = "`clawmem access show`, by a person, lists who is in it."
            raise NotFound(f"{ACCESS} has no person '{name}', so nothing is shown.", hint)
        found.append(person)
    moment = viewer.moment()
    return tuple(person for person in found if not policy.sees_everything(rules.grants, person, moment))


def messages_of(vault: Vault, index: Index, name: str, moment: str) -> tuple[IsOf, IsOf]:
    """Return which messages concern a person: what they said, and in a memory that several people share what they may
    see and is about them or names them; and which else are marked for those who may see them, and they may."""
    rules = read_access(vault)
    person = rules.policy.person(name) if rules else None
    if rules is None or person is None:
        return (lambda event: event.speaker == name), lambda _: False
    rows = index.database.execute("SELECT id, mark FROM event WHERE mark IS NOT NULL").fetchall()
    marks = {event_id: mark_in(mark) for event_id, mark in rows}
    seen = {event_id: mark for event_id, mark in marks.items() if verdict(*rules, person, mark, moment).allowed}
    about = {event_id for event_id, mark in seen.items() if any(map(person.is_named, mark.about))}
    named = rules.policy.pattern_of(person)

    def concerns(event: Event) -> bool:
        shown = event.id in seen or event.id not in marks
        return event.speaker == name or event.id in about or (shown and bool(named.search(event.text)))

    return concerns, lambda event: event.id in seen


def marks_of(index: Index, fact_id: str, event_id: str) -> tuple[AccessMark, ...]:
    """Return the marks of a fact and of a message, as far as they have any."""
    rows = index.database.execute(
        "SELECT mark FROM fact WHERE id = ? AND mark IS NOT NULL UNION ALL"
        " SELECT mark FROM event WHERE id = ? AND mark IS NOT NULL",
        (fact_id, event_id),
    )
    return tuple(mark_in(mark) for (mark,) in rows)


def is_restricted(vault: Vault) -> bool:
    """Return whether the vault is read for somebody who may not see everything."""
    return vault.viewer is not None and bool(viewers_of(vault, read_access(vault)))


def for_everybody(vault: Vault, moment: str) -> Vault:
    """Return the vault as somebody reads it who may see, at a moment, only what everybody may; the vault itself where
    it has no policy."""
    if read_access(vault) is None:
        return vault
    public = copy(vault)
    public.viewer = Viewer((), "*", lambda: moment)  # no agent has this id
    return public


def hidden_facts(index: Index) -> set[str]:
    """Return the ids of the facts that the index has and does not show."""
    query = "SELECT id FROM main.fact WHERE n NOT IN (SELECT n FROM fact)"
    return {name for (name,) in index.database.execute(query)} if index.is_restricted else set()


def left_out(index: Index, category: str | None = None) -> tuple[str, ...]:
    """Return a notice of how many facts, or of a category, are not shown, for a person who passes on what everybody
    may see."""
    found = hidden_facts(index)
    query = "SELECT id FROM main.fact WHERE category = ?"
    named = found if category is None else {name for (name,) in index.database.execute(query, (category,))}
    hidden = len(found & named)
    return (f"left out: {counted(hidden, 'fact')} that not everybody may see",) if hidden else ()


@contextmanager
def for_viewer(vault: Vault, index: Index) -> Iterator[None]:
    """Let the index show only what those for whom the vault is read may see, each of them. Raise NotPermitted for a
    past state, which has the marks of its time."""
    rules = None if vault.viewer is None else read_access(vault)
    viewers = viewers_of(vault, rules)
    if rules is None or vault.viewer is None or not viewers:
        yield
        return
    if vault.present is not None:
        raise NotPermitted(
            f"What {viewers[-1].id} may see is known only of the memory as it is now.", "Leave out --at."
        )
    moment, owner = vault.viewer.moment(), "" if vault.viewer.names else vault.viewer.agent or ""
    own = [(person, grants_to(rules.grants, person, moment)) for person in viewers]

    def allows(mark: AccessMark) -> bool:
        return all(verdict(rules.policy, grants, person, mark, moment).allowed for person, grants in own)

    with restricted(index, allows, owner):
        yield


@contextmanager
def restricted(index: Index, allows: Allows, owner: str) -> Iterator[None]:
    """Let the index show only what `allows` lets through, and notes only of the agent `owner` ('' for none)."""
    database, engines = index.database, (index.engine, index.passage_engine)
    marks = "SELECT mark FROM main.fact WHERE mark IS NOT NULL UNION SELECT mark FROM main.event WHERE mark IS NOT NULL"
    known = {text: mark_in(text) for (text,) in database.execute(marks).fetchall()}
    allowed = [text for text, mark in known.items() if allows(mark)]
    parts = {
        text: {place: part.words for place, part in enumerate(mark.parts) if allows(mark.of_part(part))}
        for text, mark in known.items()
        if mark.parts and text not in allowed
    }
    partly = {text: shown for text, shown in parts.items() if shown}
    try:
        for table, texts in (("allowed", allowed), ("partly", list(partly))):
            database.execute(f"CREATE TEMP TABLE {table} (mark TEXT PRIMARY KEY) WITHOUT ROWID")
            database.executemany(f"INSERT INTO temp.{table} VALUES (?)", [(text,) for text in texts])
        database.execute("CREATE TEMP TABLE viewer (owner TEXT)")
        database.execute("INSERT INTO temp.viewer VALUES (?)", (owner,))
        database.create_function("sealed", -1, checksum, deterministic=True)
        database.create_function("cut", 2, lambda line, mark: _cut(line, partly[mark]), deterministic=True)
        for name, query in _VIEWS.items():
            columns = [row[1] for row in database.execute(f"PRAGMA main.table_info({name})")]
            shown = ", ".join(_CHANGED.get(f"{name}.{column}", column) for column in columns)
            database.execute(f"CREATE TEMP VIEW {name} AS {query.replace('{columns}', shown)}")
        index.database = _Unhinted(database)  # type: ignore[assignment]
        index.is_restricted, index.partly = True, frozenset(partly)
        index.engine = _Permitted(engines[0], lambda rows: _among(database, "fact", rows))
        index.passage_engine = _Permitted(engines[1], lambda pieces: _visible_pieces(database, pieces, partly))
        yield
    finally:
        index.database, index.is_restricted, index.partly = database, False, frozenset()
        index.engine, index.passage_engine = engines
        for name in _VIEWS:
            database.execute(f"DROP VIEW IF EXISTS temp.{name}")
        for name in ("allowed", "partly", "viewer"):
            database.execute(f"DROP TABLE IF EXISTS temp.{name}")


def _among(database: sqlite3.Connection, table: str, rows: Collection[int]) -> set[int]:
    """Return those of some rows that the viewer may see."""
    query = f"SELECT {table}.n FROM json_each(?) AS given CROSS JOIN {table} ON {table}.n = given.value"
    return {n for (n,) in database.execute(query, (json.dumps(list(rows)),))} if rows else set()


def _cut(line: str, parts: Mapping[int, str]) -> str:
    """Return the line of a message with these parts of it as its text, in their order there."""
    record = json.loads(line)
    text = record["text"]
    shown = " … ".join(sorted(parts.values(), key=text.find))
    return json.dumps({**record, "text": shown}, ensure_ascii=False)


def _visible_pieces(
    database: sqlite3.Connection, pieces: Collection[int], partly: Mapping[str, Mapping[int, str]]
) -> set[int]:
    """Return those of some pieces of events and notes, whose numbers are negative, that the viewer may see."""
    rows = {piece: row_of(piece) for piece in pieces}
    events = _among(database, "event", {row for row in rows.values() if row >= 0})
    notes = _among(database, "note", {-row for row in rows.values() if row < 0})
    query = "SELECT n, mark FROM json_each(?) AS given CROSS JOIN main.event AS event ON event.n = given.value"
    found = database.execute(f"{query} WHERE {_IN_PARTS}", (json.dumps(list(events)),)) if partly and events else ()
    parts = {n: {n * SPREAD + PART + place for place in partly[mark]} for n, mark in found}
    return {
        piece
        for piece, row in rows.items()
        if (row in events and (row not in parts or piece in parts[row]) if row >= 0 else -row in notes)
    }


class _Unhinted:
    """The connection of an index whose queries name no index, and whose writes mean the tables."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database

    def execute(self, query: str, values: Any = ()) -> sqlite3.Cursor:
        """Run a query."""
        return self._database.execute(_WRITE.sub(r"\1 main.", _HINT.sub("", query)), values)

    def executemany(self, query: str, rows: Any) -> sqlite3.Cursor:
        """Run a statement for each of some rows."""
        return self._database.executemany(_WRITE.sub(r"\1 main.", query), rows)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._database, name)


class _Permitted:
    """A keyword engine without the texts of some rows: it ranks, counts and knows the words of the others alone."""

    def __init__(self, engine: KeywordEngine, visible: Callable[[Collection[int]], set[int]]) -> None:
        self._engine = engine
        self._visible = visible
        self.name = engine.name

    def search(self, words: Sequence[str], limit: int, thorough: bool = False) -> list[Match]:
        """Return the best texts, as `KeywordEngine.search` does."""
        wide = 2 * limit
        while True:
            found = self._engine.search(words, wide, thorough)
            visible = self._visible([match.n for match in found])
            if len(visible) >= limit or len(found) < wide:
                return [match for match in found if match.n in visible][:limit]
            wide *= 4

    def search_among(self, rows: Collection[int], words: Sequence[str], limit: int) -> list[Match]:
        """Return the best of some texts, as `KeywordEngine.search_among` does."""
        return self._engine.search_among(self._visible(rows), words, limit)

    def having(self, rows: Collection[int], words: Sequence[str]) -> set[int]:
        """Return those of some texts that have one of the words."""
        return self._visible(self._engine.having(rows, words))

    def terms(self, begin: str) -> list[str]:
        """Return the words that begin with some letters, of texts that the viewer may see."""
        return [word for word in self._engine.terms(begin) if self.count([word], 1)]

    def count(self, words: Sequence[str], most: int) -> int:
        """Return how many texts contain one of the words, at most `most`."""
        return len(self.search(words, most, thorough=True))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)
