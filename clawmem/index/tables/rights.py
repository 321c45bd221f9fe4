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
from functools import cache
from typing import Any, NamedTuple

from clawmem.errors import NotFound, NotPermitted
from clawmem.index.tables.keyword import KeywordEngine, Match
from clawmem.index.tables.store import Index
from clawmem.model.facts.fact import FORGOTTEN, RETRACTED
from clawmem.model.language.text import counted, normal, plain
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

IsOf = Callable[[Event], bool]  # whether a message is of a person
_WORD = re.compile(r"[^\W_]+")
_STEM = 4  # letters that tell a word, whatever its ending
_HINT = re.compile(r" INDEXED BY \w+")  # a view has no index
_WRITE = re.compile(r"^(UPDATE|INSERT INTO|DELETE FROM) (?=\w+ )")  # what the index counts once for all
_ALL, _IN_PART = 2, 1  # what `shown` returns of a mark: all may be seen, or parts
_HIDES = f"{{0}}.mark IS NOT NULL AND shown({{0}}.mark) < {_ALL}"
_IN_PARTS = f"mark IS NOT NULL AND shown(mark) = {_IN_PART}"
_GONE = " OR ".join(f"instr(line, '\"{reason}')" for reason in FORGOTTEN)
# What was learned from a message is for those who may see the message, and what was to be forgotten for nobody. The
# limit lets only the marks of messages be read of which there are facts.
_HIDDEN_FACTS = f"""
SELECT n FROM main.fact WHERE {_HIDES.format("fact")}
UNION SELECT n FROM main.fact WHERE status = '{RETRACTED}' AND ({_GONE})
UNION SELECT n FROM (SELECT fact.n, source.mark FROM main.event AS source INDEXED BY event_mark CROSS JOIN main.fact
 ON fact.event = source.id WHERE source.mark IS NOT NULL LIMIT -1) AS source WHERE {_HIDES.format("source")}
"""
_HIDDEN_EVENTS = f"""
SELECT n FROM main.event INDEXED BY event_mark WHERE mark IS NOT NULL AND NOT shown(mark)
UNION SELECT n FROM main.event WHERE role = 'note' AND mark IS NULL
UNION SELECT line.n FROM main.event AS line CROSS JOIN main.event AS source ON source.n = line.place
 WHERE line.sitting = '' AND {_HIDES.format("source")}
"""
# The notes and pages of a memory are written for those who may see all of it; an agent also has its own. Links are
# shown between facts that the viewer may see, without the reason, which nobody marked.
_SEES = "SELECT 1 FROM main.fact AS target WHERE target.id = {} AND shows_fact(target.n)"
_TO = _SEES.format("json_extract(link.value, '$.to')")
_LINKS = (
    "(SELECT json_group_array(json_remove(link.value, '$.reason')) FROM json_each(line, '$.links') AS link"
    f" WHERE EXISTS ({_TO}))"
)
_HEIR = _SEES.format("json_extract(fact.line, '$.superseded_by')")
_LINKED = f"CASE WHEN instr(line, '\"links\"') THEN json_set(line, '$.links', json({_LINKS})) ELSE line END"
_LINE = (
    f"CASE WHEN instr(line, '\"superseded_by\"') AND NOT EXISTS ({_HEIR})"
    f" THEN json_remove({_LINKED}, '$.superseded_by') ELSE {_LINKED} END"
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
# A query that sees several states shows no row that came in meanwhile, and none that was marked.
_VIEWS = {
    "fact": f"SELECT {{columns}} FROM main.fact WHERE shows_fact(n) AND NOT ({_HIDES.format('fact')})",
    "event": "SELECT {columns} FROM main.event WHERE shows_event(n) AND (mark IS NULL OR shown(mark))",
    "note": "SELECT * FROM main.note WHERE owner != '' AND owner = viewer()",
    "edge": "SELECT * FROM main.edge WHERE EXISTS (SELECT 1 FROM fact WHERE fact.n = edge.n)"
    f" AND (kind = 'related' OR EXISTS ({_SEES.format('edge.target')}))",
    "entity": "SELECT * FROM main.entity WHERE EXISTS (SELECT 1 FROM fact WHERE fact.entity = entity.name)",
    "alias": "SELECT * FROM main.alias WHERE EXISTS (SELECT 1 FROM fact WHERE fact.entity = alias.name)",
    "dispute": "SELECT * FROM main.dispute WHERE 0",
    "broken": "SELECT * FROM main.broken WHERE 0",
    "total": "SELECT facts - hidden_facts() AS facts, (SELECT coalesce(sum(seal), 0) FROM fact) AS seals"
    " FROM main.total",
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
    query = "SELECT id FROM main.fact WHERE NOT shows_fact(n)"
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
    (version,) = index.database.execute("PRAGMA data_version").fetchone()
    state = version, index.database.total_changes, rules.policy, own, owner
    if index.shown is None or index.shown[0] != state:
        index.shown = None
        index.shown = state, _Shown(index.database, rules.policy, own, moment, owner)
    with _restricted(index, index.shown[1]):
        yield


class _Shown:
    """What viewers may see of an index, each of them: what is hidden of the facts and events that it has now, and what
    a mark hides. Finding it takes as long as a search, so it is kept for as long as the index and their rights stay."""

    def __init__(
        self,
        database: sqlite3.Connection,
        policy: Policy,
        own: Sequence[tuple[Person, Sequence[Grant]]],
        moment: str,
        owner: str,
    ) -> None:
        self._sees = cache(
            lambda mark: [verdict(policy, grants, person, mark, moment).allowed for person, grants in own]
        )
        self._people = [person for person, _ in own]
        self.owner = owner
        self.parts_of = cache(self._parts_of)
        self.counts: tuple[dict[Any, int], dict[Any, int]] = {}, {}
        self._define_in(database)
        rows = database.execute("SELECT (SELECT max(n) FROM main.fact), (SELECT max(n) FROM main.event)").fetchone()
        self.last_fact, self.last_event = (last or 0 for last in rows)
        self.facts = {n for (n,) in database.execute(_HIDDEN_FACTS)}
        self.events = {n for (n,) in database.execute(_HIDDEN_EVENTS)}
        marked = database.execute(f"SELECT n, mark FROM main.event INDEXED BY event_mark WHERE {_IN_PARTS}")
        self.pieces = {n: {n * SPREAD + PART + at for at in self.parts_of(mark) or ()} for n, mark in marked}
        linked = database.execute("SELECT n FROM main.edge WHERE kind NOT IN ('related', 'superseded_by')")
        self.linked = {n for (n,) in linked}
        self.columns = {
            name: [row[1] for row in database.execute(f"PRAGMA main.table_info({name})")] for name in _VIEWS
        }

    def _define_in(self, database: sqlite3.Connection) -> None:
        for name, count, function in (
            ("shown", 1, self.shown),
            ("shows_fact", 1, self.shows_fact),
            ("shows_event", 1, self.shows_event),
            ("hidden_facts", 0, lambda: len(self.facts)),
            ("viewer", 0, lambda: self.owner),
            ("sealed", -1, checksum),
            ("cut", 2, lambda line, mark: _cut(line, self.parts_of(mark) or {})),
        ):
            database.create_function(name, count, function, deterministic=True)

    def shown(self, mark: str) -> int:
        """Return whether all may be seen of what has a mark, or parts of it, or nothing."""
        parts = self.parts_of(mark)
        return _ALL if parts is None else _IN_PART * bool(parts)

    def shows_fact(self, n: int) -> bool:
        """Return whether the fact in a row may be seen."""
        return n not in self.facts and n <= self.last_fact

    def shows_event(self, n: int) -> bool:
        """Return whether the event in a row may be seen, or parts of it."""
        return n not in self.events and n <= self.last_event

    def shows_piece(self, piece: int) -> bool:
        """Return whether the piece of an event may be seen. Of a message that is shown in parts, only these are."""
        n = piece // SPREAD
        return self.shows_event(n) and (n not in self.pieces or piece in self.pieces[n])

    def _parts_of(self, text: str) -> Mapping[int, str] | None:
        """Return the words of the parts that are shown of what has a mark, by their numbers; None for all of it."""
        mark = mark_in(text)
        if self._allows(mark):
            return None
        return {at: part.words for at, part in enumerate(mark.parts) if self._allows(mark.of_part(part))}

    def _allows(self, mark: AccessMark) -> bool:
        # Many speakers have marks that differ in nothing else.
        speaker, sees = mark.speaker or "", self._sees(mark._replace(speaker=None))
        pairs = zip(sees, self._people, strict=True)
        return all(allowed or (speaker and person.is_named(speaker)) for allowed, person in pairs)


@contextmanager
def _restricted(index: Index, seen: _Shown) -> Iterator[None]:
    """Let the index show only what may be seen."""
    database, engines = index.database, (index.engine, index.passage_engine)
    try:
        for name, query in _VIEWS.items():
            selected = ", ".join(_CHANGED.get(f"{name}.{column}", column) for column in seen.columns[name])
            database.execute(f"CREATE TEMP VIEW {name} AS {query.replace('{columns}', selected)}")
        index.database = _Unhinted(database)  # type: ignore[assignment]
        index.is_restricted, index.is_cut = True, lambda mark: mark is not None and seen.shown(mark) == _IN_PART
        visible = (
            lambda rows, words: {n for n in rows if seen.shows_fact(n) and _says(database, seen, n, words)},
            lambda pieces, _: _visible_pieces(database, pieces, seen),
        )
        index.engine, index.passage_engine = map(_Permitted, engines, visible, seen.counts)
        yield
    finally:
        index.database, index.is_restricted, index.is_cut = database, False, lambda _: False
        index.engine, index.passage_engine = engines
        for name in _VIEWS:
            database.execute(f"DROP VIEW IF EXISTS temp.{name}")


def _says(database: sqlite3.Connection, seen: _Shown, n: int, words: Sequence[str]) -> bool:
    """Return whether what is shown of a fact has one of some words; the reasons of its links are not shown."""
    if n not in seen.linked:
        return True
    from clawmem.index.tables.intake import text_of_line  # few facts have links

    texts = [text_of_line(*row) for row in database.execute("SELECT entity, line FROM fact WHERE n = ?", (n,))]
    stems = {word[:_STEM] for text in texts for word in _WORD.findall(plain(normal(text)))}
    return any(stems.issuperset(part[:_STEM] for part in _WORD.findall(plain(normal(word)))) for word in words)


def _visible_pieces(database: sqlite3.Connection, pieces: Collection[int], seen: _Shown) -> set[int]:
    """Return those of some pieces of events and notes, whose numbers are negative, that the viewer may see."""
    query = "SELECT note.n FROM json_each(?) AS given CROSS JOIN note ON note.n = given.value"
    of_notes = {piece: -row_of(piece) for piece in pieces if piece < 0}
    notes = {n for (n,) in database.execute(query, (json.dumps([*of_notes.values()]),))} if of_notes else ()
    return {piece for piece in pieces if (of_notes[piece] in notes if piece < 0 else seen.shows_piece(piece))}


def _cut(line: str, parts: Mapping[int, str]) -> str:
    """Return the line of a message with these parts of it as its text, in their order there."""
    record = json.loads(line)
    text = record["text"]
    shown = " … ".join(sorted(parts.values(), key=text.find))
    return json.dumps({**record, "text": shown}, ensure_ascii=False)


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

    def __init__(
        self,
        engine: KeywordEngine,
        visible: Callable[[Collection[int], Sequence[str]], set[int]],
        counts: dict[Any, int],
    ) -> None:
        self._engine = engine
        self._visible = visible
        self._counts = counts
        self.name = engine.name

    def search(self, words: Sequence[str], limit: int, thorough: bool = False) -> list[Match]:
        """Return the best texts, as `KeywordEngine.search` does."""
        wide = 2 * limit
        while True:
            found = self._engine.search(words, wide, thorough)
            visible = self._visible([match.n for match in found], words)
            if len(visible) >= limit or len(found) < wide:
                return [match for match in found if match.n in visible][:limit]
            wide *= 4

    def search_among(self, rows: Collection[int], words: Sequence[str], limit: int) -> list[Match]:
        """Return the best of some texts, as `KeywordEngine.search_among` does."""
        return self._engine.search_among(self._visible(rows, words), words, limit)

    def having(self, rows: Collection[int], words: Sequence[str]) -> set[int]:
        """Return those of some texts that have one of the words."""
        return self._visible(self._engine.having(rows, words), words)

    def terms(self, begin: str) -> list[str]:
        """Return the words that begin with some letters, of texts that the viewer may see."""
        return [word for word in self._engine.terms(begin) if self.count([word], 1)]

    def count(self, words: Sequence[str], most: int) -> int:
        """Return how many texts contain one of the words, at most `most`."""
        key = (*words, most)
        if key not in self._counts:
            self._counts[key] = self._counted(words, most)
        return self._counts[key]

    def _counted(self, words: Sequence[str], most: int) -> int:
        wide = 2 * most
        while True:
            found = self._engine.rows(words, wide)
            visible = len(self._visible(found, words))
            if visible >= most or len(found) < wide:
                return min(visible, most)
            wide *= 4

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)
