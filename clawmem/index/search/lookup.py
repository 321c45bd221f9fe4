"""Questions the index answers by exact value: facts by id, entity, subject or event; entities by name or alias."""

import json
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from clawmem.errors import AmbiguousId, NotFound
from clawmem.index.search.unreadable import refuse_unread
from clawmem.index.tables.seals import check_alias, check_entity, check_row
from clawmem.index.tables.store import Index
from clawmem.model.facts.codec import fact_from_record, items_file
from clawmem.model.facts.fact import ACTIVE, Fact
from clawmem.model.facts.ids import FACT_PREFIX, check_reference
from clawmem.model.language.text import as_one_file, normal
from clawmem.model.records.entity import Entity, is_entity_name

# What a fact is made of again: see `placed`.
PLACED = "line, entity, n, seal"


class PlacedFact(NamedTuple):
    """A fact and the entity it stands in."""

    fact: Fact
    entity: str


class TakenIds:
    """The ids already in the vault, as something `in` can be asked of."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._fresh: set[str] = set()

    def __contains__(self, fact_id: object) -> bool:
        if fact_id in self._fresh:
            return True
        row = self._index.database.execute("SELECT 1 FROM fact WHERE id = ?", (fact_id,)).fetchone()
        return row is not None

    def add(self, fact_id: str) -> None:
        """Count an id as taken that is not written yet."""
        self._fresh.add(fact_id)


def resolve(index: Index, reference: str) -> str:
    """The full id a unique prefix stands for; raises NotFound or AmbiguousId."""
    given = check_reference(reference)
    for prefix in (given, FACT_PREFIX + given):
        rows = index.database.execute(
            "SELECT DISTINCT id FROM fact WHERE id >= ? AND id < ? ORDER BY id LIMIT 50",
            (prefix, prefix + "\U0010ffff"),
        ).fetchall()
        matches = [row[0] for row in rows]
        if prefix in matches or len(matches) == 1:
            return prefix if prefix in matches else matches[0]
        if matches:
            raise AmbiguousId(given, matches)
    refuse_unread(index, f"the id '{given}'")
    raise NotFound(f"No fact has the id '{given}'.", "`clawmem list` and `clawmem recall` show ids.")


def find(index: Index, reference: str) -> PlacedFact:
    """The fact with this id or unique prefix."""
    fact_id = resolve(index, reference)
    row = index.database.execute(f"SELECT {PLACED} FROM fact WHERE id = ?", (fact_id,)).fetchone()
    return placed(row)


def by_ids(index: Index, fact_ids: Iterable[str]) -> dict[str, PlacedFact]:
    """The facts of these full ids; ids that no fact has are left out."""
    found = {}
    for fact_id in fact_ids:
        row = index.database.execute(f"SELECT {PLACED} FROM fact WHERE id = ?", (fact_id,)).fetchone()
        if row:
            found[fact_id] = placed(row)
    return found


def all_facts(index: Index) -> Iterator[PlacedFact]:
    """Every fact of the vault."""
    return map(placed, index.database.execute(f"SELECT {PLACED} FROM fact ORDER BY n"))


def facts_of(index: Index, entity: str) -> list[PlacedFact]:
    """The facts of one entity in the order they stand."""
    rows = index.database.execute(f"SELECT {PLACED} FROM fact WHERE entity = ? ORDER BY n", (entity,))
    return [placed(row) for row in rows]


def items_of(index: Index, entity: str) -> bytes:
    """The file of an entity's facts, put together from what the index holds of HEAD."""
    rows = index.database.execute("SELECT line FROM fact WHERE entity = ? ORDER BY n", (entity,))
    return items_file(line for (line,) in rows)


def about(index: Index, subject: str) -> list[PlacedFact]:
    """The facts whose subject is this one, however it is written."""
    rows = index.database.execute(f"SELECT {PLACED} FROM fact WHERE subject = ? ORDER BY n", (normal(subject),))
    return [placed(row) for row in rows]


def standing_with(index: Index, predicates: Iterable[str]) -> list[PlacedFact]:
    """The facts with one of these predicates that nothing replaced or took back."""
    named = list(predicates)
    rows = index.database.execute(
        f"SELECT {PLACED} FROM fact WHERE predicate IN ({', '.join('?' * len(named))}) ORDER BY n", named
    )
    return [one for one in map(placed, rows) if one.fact.stands]


def learned_from(index: Index, event_id: str) -> list[PlacedFact]:
    """The facts that cite an event."""
    rows = index.database.execute(f"SELECT {PLACED} FROM fact WHERE event = ? ORDER BY n", (event_id,))
    return [placed(row) for row in rows]


def of_days(index: Index, days: Iterable[str]) -> list[PlacedFact]:
    """The facts that were recorded on one of these days, or learned from an event of one."""
    wanted = list(days)
    marks = ", ".join("?" * len(wanted))
    rows = index.database.execute(
        f"SELECT {PLACED} FROM fact WHERE substr(timestamp, 1, 10) IN ({marks})"
        f" OR event IN (SELECT id FROM event WHERE day IN ({marks})) ORDER BY n",
        (*wanted, *wanted),
    )
    return [placed(row) for row in rows]


def holding(index: Index, *pieces: str) -> list[PlacedFact]:
    """The facts whose record has one of these pieces of text, as it is written."""
    condition = " OR ".join("instr(line, ?)" for _ in pieces)
    rows = index.database.execute(f"SELECT {PLACED} FROM fact WHERE {condition} ORDER BY n", pieces)
    return [placed(row) for row in rows]


def unused_since(index: Index, moment: str) -> list[PlacedFact]:
    """The active facts that were neither recorded nor folded as used after a moment (ISO 8601 UTC)."""
    rows = index.database.execute(
        f"SELECT {PLACED} FROM fact WHERE status = ? AND coalesce(last_accessed, timestamp) <= ? ORDER BY n",
        (ACTIVE, moment),
    )
    return [placed(row) for row in rows]


def weighty(index: Index, categories: Iterable[str], importance: float, mark: str) -> list[PlacedFact]:
    """The active global facts of some categories, of that importance at least, or with a mark in their record."""
    named = list(categories)
    rows = index.database.execute(
        f"SELECT {PLACED} FROM fact WHERE owner = '' AND status = ? AND (importance >= ? OR instr(line, ?)"
        f" OR category IN ({', '.join('?' * len(named))})) ORDER BY n",
        (ACTIVE, importance, f'"{mark}"', *named),
    )
    return [placed(row) for row in rows]


def naming(index: Index, fact_id: str) -> list[PlacedFact]:
    """The other facts whose record has this id anywhere: in a link, as a successor, in their details."""
    rows = index.database.execute(
        f"SELECT {PLACED} FROM fact WHERE id != ? AND instr(line, ?) ORDER BY n", (fact_id, f'"{fact_id}"')
    )
    return [placed(row) for row in rows]


def event_day(index: Index, event_id: str) -> str | None:
    """The day whose ledger holds the event, or None."""
    row = index.database.execute("SELECT day FROM event WHERE id = ?", (event_id,)).fetchone()
    return row[0] if row else None


def known_events(index: Index, event_ids: Iterable[str]) -> set[str]:
    """Those of the ids that the ledger already holds."""
    execute = index.database.execute
    return {one for one in event_ids if execute("SELECT 1 FROM event WHERE id = ?", (one,)).fetchone()}


def entity_names(index: Index) -> list[str]:
    """Every entity that has a summary or a fact, by name."""
    names = {one.name for one in entities(index)}
    # One row of each name is held against its seal: a name that only damage made stands in its one row alone.
    query = "SELECT n, entity, line, seal FROM fact WHERE n IN (SELECT min(n) FROM fact GROUP BY entity)"
    for row in index.database.execute(query):
        check_row(*row)
        names.add(row[1])
    return sorted(names)


def entities(index: Index) -> list[Entity]:
    """Every entity that has a summary, by name."""
    rows = index.database.execute("SELECT name, title, kind, aliases, seal FROM entity ORDER BY name")
    return [_entity(*row) for row in rows]


def _entity(name: str, title: str, kind: str, aliases: str, given: int) -> Entity:
    check_entity(name, title, kind, aliases, given)
    return Entity(name, title, tuple(json.loads(aliases)), kind)


def entity_exists(index: Index, name: str) -> bool:
    """Whether an entity of exactly this name has a summary or a fact."""
    question = "SELECT 1 FROM entity WHERE name = ?1 UNION ALL SELECT 1 FROM fact WHERE entity = ?1 LIMIT 1"
    return index.database.execute(question, (name,)).fetchone() is not None


def same_place(index: Index, name: str) -> str | None:
    """The entity whose folder is the one of this name, on every disk or on some: those are one entity to clawmem."""
    if entity_exists(index, name):
        return name
    wanted = as_one_file(name)
    # Two names of plain letters are one only where they are equal.
    odd = "" if not name.isascii() else " WHERE name GLOB '*[^ -~]*'"
    names = (row[0] for row in index.database.execute(f"SELECT name FROM entity{odd}"))
    return next((one for one in names if as_one_file(one) == wanted), None)


def known_as(index: Index, words: str) -> list[str]:
    """The entities whose title or alias is exactly these words, however written."""
    query = "SELECT alias, name, seal FROM alias WHERE alias = ? ORDER BY name"
    rows = index.database.execute(query, (normal(words),)).fetchall()
    for row in rows:
        check_alias(*row)
    return [name for _, name, _ in rows]


def ending_in(index: Index, word: str) -> list[str]:
    """The entities whose path, as it is or was, ends in this word; all of them are looked through."""
    tail = (f"/{normal(word)}",)
    described = "SELECT name, title, kind, aliases, seal FROM entity WHERE substr(name, -length(?1)) = ?1"
    found = {_entity(*row).name for row in index.database.execute(described, tail)}
    bare = (
        "SELECT n, entity, line, seal FROM fact WHERE n IN"
        " (SELECT min(n) FROM fact WHERE substr(entity, -length(?1)) = ?1 GROUP BY entity)"
    )
    for row in index.database.execute(bare, tail):
        check_row(*row)
        found.add(row[1])
    former = "SELECT alias, name, seal FROM alias WHERE substr(alias, -length(?1)) = ?1"
    for alias, name, given in index.database.execute(former, tail):
        check_alias(alias, name, given)
        if is_entity_name(alias):
            found.add(name)
    return sorted(found)


def counts(index: Index) -> dict[str, dict[str, int]]:
    """How many facts each entity has, by status."""
    table: dict[str, dict[str, int]] = {}
    rows = index.database.execute("SELECT entity, status, COUNT(*) FROM fact GROUP BY entity, status")
    for entity, status, number in rows:
        table.setdefault(entity, {})[status] = number
    return table


# What a context tells of a fact.
_TOLD = (
    "id",
    "fact",
    "category",
    "timestamp",
    "source",
    "valid_from",
    "valid_to",
    "source_event",
    "source_text",
    "trust",
    "metadata",
)


def told(row: tuple[str, str, int, int]) -> PlacedFact:
    """Like `placed`, but no more of the fact than a context tells, in a third of the time: what has its seal was looked
    through when it was taken in."""
    check_row(row[2], row[1], row[0], row[3])
    record = json.loads(row[0])
    return PlacedFact(Fact(**{name: record[name] for name in _TOLD if name in record}), row[1])


def placed(row: tuple[str, str, int, int]) -> PlacedFact:
    """A fact from the columns PLACED of its row; raises RowDamaged where they are not what was written."""
    check_row(row[2], row[1], row[0], row[3])
    return PlacedFact(fact_from_record(json.loads(row[0])), row[1])
