"""Lookups by exact value: facts by id, entity, subject or event; entities by name or alias."""

import json
from collections.abc import Collection, Iterable, Iterator, Sequence

from clawmem.errors import AmbiguousId, IncompleteAnswer, NotFound, PossiblyUnreadable
from clawmem.index.tables.fact_marks import counted_fact
from clawmem.index.tables.schema import check_row, check_sealed
from clawmem.index.tables.store import Index
from clawmem.model.facts.codec import fact_from_record, items_file
from clawmem.model.facts.fact import (
    ACTIVE,
    FACT_PREFIX,
    FORGOTTEN,
    RETRACTED,
    STATUSES,
    Fact,
    check_prefix,
    is_reference,
)
from clawmem.model.kinds import ITEMS_FILE, file_kind
from clawmem.model.language.text import as_one_file, near_name, normal, plain
from clawmem.model.named_tuple import NamedTuple
from clawmem.model.records.entity import Entity, is_entity_name, kind_of, name_of_path, owner_of

# The columns that `fact_from_row` reads.
FACT_COLUMNS = "line, entity, n, seal"
_MOST_COMPARED = 100
_SHOWN_BY = "`clawmem list` and `clawmem recall` show ids."


class PlacedFact(NamedTuple):
    """A fact and the entity that it belongs to."""

    fact: Fact
    entity: str


class TakenIds:
    """The ids in use in the vault, for `in` tests."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._fresh: set[str] = set()

    def __contains__(self, fact_id: object) -> bool:
        if fact_id in self._fresh:
            return True
        row = self._index.database.execute("SELECT 1 FROM fact WHERE id = ?", (fact_id,)).fetchone()
        return row is not None

    def add(self, fact_id: str) -> None:
        """Count an id as in use that is not written yet."""
        self._fresh.add(fact_id)


def resolve_id(index: Index, reference: str) -> str:
    """Return the full id of a unique prefix, or of the only current fact of the global memory that says some words.

    Raise NotFound or AmbiguousId, and InvalidInput for a short prefix."""
    if not is_reference(reference):
        return _id_of_words(index, reference)
    value = reference.strip()
    for prefix in (value, FACT_PREFIX + value):
        rows = index.database.execute(
            "SELECT DISTINCT id FROM fact WHERE id >= ? AND id < ? ORDER BY id LIMIT 50",
            (prefix, prefix + "\U0010ffff"),
        ).fetchall()
        matches = [row[0] for row in rows]
        if prefix in matches or len(matches) == 1:
            return prefix if prefix in matches else check_prefix(value, prefix, matches[0], FACT_PREFIX)
        if matches:
            raise AmbiguousId(value, matches)
    return _id_of_words(index, value)


def _id_of_words(index: Index, words: str) -> str:
    from clawmem.index.search.channels import facts_meant  # imports this module; most facts are named by their ids

    found = [placed.fact.id for placed in facts_meant(index, words, [""])]
    if len(found) == 1:
        return found[0]
    entities = [words] if entity_exists(index, words) else entities_known_as(index, words)
    entity = next((name for name in entities if owner_of(name) is None), None)
    if found or entity:
        from shlex import quote  # only where words are not enough

        raise AmbiguousId(words, found, f"Name one by its id; `clawmem show {quote(words)}` shows them.", entity)
    refuse_if_unreadable(index, f"the id '{words}'")
    if not is_reference(words):
        raise NotFound(f"No current fact has the words '{words}'.", _SHOWN_BY)
    half = len(words.removeprefix(FACT_PREFIX)) // 2  # a slip leaves one half of an id as it was
    pattern = f"{FACT_PREFIX}{words.removeprefix(FACT_PREFIX)[:half]}*", f"*{words[-half:]}"
    near = index.database.execute("SELECT id FROM fact WHERE id GLOB ? OR id GLOB ? LIMIT 2", pattern).fetchall()
    hint = f"Did you mean {near[0][0]}? " if half > 2 and len(near) == 1 else ""
    raise NotFound(f"No fact has the id '{words}'.", f"{hint}{_SHOWN_BY}")


def find_fact(index: Index, reference: str) -> PlacedFact:
    """Return the fact with this id or unique prefix. Raise NotFound or AmbiguousId."""
    fact_id = resolve_id(index, reference)
    row = index.database.execute(f"SELECT {FACT_COLUMNS} FROM fact WHERE id = ?", (fact_id,)).fetchone()
    return fact_from_row(row)


def by_ids(index: Index, fact_ids: Iterable[str]) -> dict[str, PlacedFact]:
    """Return the facts with these full ids. Unknown ids are left out."""
    rows = index.database.execute(
        f"SELECT {FACT_COLUMNS} FROM json_each(?) AS given CROSS JOIN fact ON fact.id = given.value",
        (json.dumps(list(fact_ids)),),
    )
    return {placed.fact.id: placed for placed in map(fact_from_row, rows)}


def forgotten_ids(index: Index) -> set[str]:
    """Return the ids of the facts that were withdrawn on a request to forget them."""
    marks = " OR ".join(["instr(line, ?)"] * len(FORGOTTEN))
    query = f"SELECT id FROM fact WHERE status = ? AND ({marks})"
    return {fact_id for (fact_id,) in index.database.execute(query, (RETRACTED, *FORGOTTEN))}


def forgotten_entities(index: Index) -> set[str]:
    """Return the entities of which something was to be forgotten and nothing else is served: no page names them."""
    gone = forgotten_ids(index)
    places = {placed.entity for placed in by_ids(index, gone).values()}
    return {name for name in places if all(placed.fact.status == RETRACTED for placed in facts_of(index, name))}


def by_prefix(index: Index, prefix: str) -> list[PlacedFact]:
    """Return the facts whose ids begin with a text."""
    return _facts_where(index, "id >= ? AND id < ?", (prefix, prefix + "\U0010ffff"))


def _facts_where(index: Index, condition: str, values: Sequence[object]) -> list[PlacedFact]:
    query = f"SELECT {FACT_COLUMNS} FROM fact WHERE {condition} ORDER BY n"
    return [fact_from_row(row) for row in index.database.execute(query, values)]


def all_facts(index: Index) -> Iterator[PlacedFact]:
    """Yield every fact of the vault."""
    return map(fact_from_row, index.database.execute(f"SELECT {FACT_COLUMNS} FROM fact ORDER BY n"))


def facts_of(index: Index, entity: str) -> list[PlacedFact]:
    """Return the facts of an entity in their order."""
    return _facts_where(index, "entity = ?", (entity,))


def newest_of(index: Index, entity: str, most: int) -> list[PlacedFact]:
    """Return the facts of an entity that were indexed last, at most so many, the newest first."""
    query = f"SELECT {FACT_COLUMNS} FROM fact WHERE entity = ? ORDER BY n DESC LIMIT ?"
    return [fact_from_row(row) for row in index.database.execute(query, (entity, most))]


def items_of(index: Index, entity: str) -> bytes:
    """Return the file with an entity's facts, as of HEAD, built from the index."""
    rows = index.database.execute("SELECT line FROM fact WHERE entity = ? ORDER BY n", (entity,))
    return items_file(line for (line,) in rows)


def facts_about(index: Index, subject: str) -> list[PlacedFact]:
    """Return the facts with this subject, in any spelling."""
    return _facts_where(index, "subject = ?", (normal(subject),))


def standing_facts_with(index: Index, predicates: Iterable[str]) -> list[PlacedFact]:
    """Return the facts with one of these predicates that are neither replaced nor retracted."""
    named = list(predicates)
    found = _facts_where(index, f"predicate IN ({', '.join('?' * len(named))})", named)
    return [placed for placed in found if placed.fact.is_current]


def rows_of(index: Index, fact_ids: Iterable[str]) -> set[int]:
    """Return the row numbers of the facts with these full ids."""
    execute = index.database.execute
    return {n for fact_id in fact_ids for (n,) in execute("SELECT n FROM fact WHERE id = ?", (fact_id,))}


def newest_rows_about(index: Index, subject: str, limit: int) -> list[int]:
    """Return the row numbers of the facts with this subject, in any spelling, newest first."""
    query = "SELECT n FROM fact WHERE subject = ? ORDER BY n DESC LIMIT ?"
    return [n for (n,) in index.database.execute(query, (normal(subject), limit))]


def facts_from_event(index: Index, event_id: str) -> list[PlacedFact]:
    """Return the facts that cite an event."""
    return _facts_where(index, "event = ?", (event_id,))


def rows_from_events(index: Index, event_ids: Iterable[str]) -> list[int]:
    """Return the row numbers of the facts that cite these events, in the order of the events."""
    execute = index.database.execute
    return [n for name in event_ids for (n,) in execute("SELECT n FROM fact WHERE event = ? ORDER BY n", (name,))]


def facts_of_days(index: Index, days: Iterable[str]) -> list[PlacedFact]:
    """Return the facts that were recorded on one of these days, or learned from an event of one."""
    wanted = list(days)
    marks = ", ".join("?" * len(wanted))
    learned = f"event IN (SELECT id FROM event WHERE day IN ({marks}))"
    return _facts_where(index, f"substr(timestamp, 1, 10) IN ({marks}) OR {learned}", (*wanted, *wanted))


def facts_containing(index: Index, *pieces: str) -> list[PlacedFact]:
    """Return the facts whose record contains one of these texts literally."""
    condition = " OR ".join("instr(line, ?)" for _ in pieces)
    return _facts_where(index, condition, pieces)


def accesses_of_entities(index: Index, names: Collection[str]) -> dict[str, int]:
    """Return how often the facts of some entities were accessed, as far as committed."""
    query = (
        "SELECT entity, sum(access_count) FROM fact WHERE entity IN (SELECT value FROM json_each(?)) GROUP BY entity"
    )
    return dict(index.database.execute(query, (json.dumps(sorted(names)),)))


def unused_since(index: Index, moment: str) -> list[PlacedFact]:
    """Return the active facts that were neither recorded nor used after a time (ISO 8601 UTC), as far as committed.
    They have all their accesses, so they are not what is written to `items.json`."""
    found = _facts_where(index, "status = ? AND coalesce(last_accessed, timestamp) <= ?", (ACTIVE, moment))
    return [PlacedFact(counted_fact(index, placed.fact), placed.entity) for placed in found]


def important_facts(index: Index, categories: Iterable[str], importance: float, mark: str) -> list[PlacedFact]:
    """Return the active global facts of some categories, of that importance or more, or with a mark."""
    named = list(categories)
    condition = f"importance >= ? OR instr(line, ?) OR category IN ({', '.join('?' * len(named))})"
    values = (ACTIVE, importance, f'"{mark}"', *named)
    return _facts_where(index, f"owner = '' AND status = ? AND ({condition})", values)


def facts_naming(index: Index, fact_id: str) -> list[PlacedFact]:
    """Return the other facts whose record contains this id: in a link, as a successor, or in their details."""
    return _facts_where(index, "id != ? AND instr(line, ?)", (fact_id, f'"{fact_id}"'))


def event_day(index: Index, event_id: str) -> str | None:
    """Return the day of the ledger that contains the event, or None."""
    row = index.database.execute("SELECT day FROM event WHERE id = ?", (event_id,)).fetchone()
    return row[0] if row else None


def known_events(index: Index, event_ids: Iterable[str]) -> set[str]:
    """Return those of the ids that are in the ledger."""
    execute = index.database.execute
    return {event_id for event_id in event_ids if execute("SELECT 1 FROM event WHERE id = ?", (event_id,)).fetchone()}


def revoked_events(index: Index, event_ids: Iterable[str]) -> set[str]:
    """Return those of the ids whose events were withdrawn with their origin."""
    query = (
        "SELECT event.id FROM json_each(?) AS given CROSS JOIN event ON event.id = given.value"
        " WHERE recalled AND json_extract(line, '$.metadata.revoked') IS NOT NULL"
    )
    return {event_id for (event_id,) in index.database.execute(query, (json.dumps([*event_ids]),))}


def entity_names(index: Index) -> list[str]:
    """Return the names of all entities that have a summary or a fact."""
    names = {entity.name for entity in entities(index)}
    # Check one row of each name against its seal: a name that exists only because of damage has a single row.
    query = "SELECT n, entity, line, seal FROM fact WHERE n IN (SELECT min(n) FROM fact GROUP BY entity)"
    for row in index.database.execute(query):
        check_row(*row)
        names.add(row[1])
    return sorted(names)


def entities(index: Index) -> list[Entity]:
    """Return every entity that has a summary, by name."""
    rows = index.database.execute("SELECT name, title, kind, aliases, seal FROM entity ORDER BY name")
    return [_entity(*row) for row in rows]


def known_entities(index: Index) -> list[Entity]:
    """Return every entity that has a summary and was not forgotten as a whole, by name."""
    gone = forgotten_entities(index)
    return [entity for entity in entities(index) if entity.name not in gone]


def _entity(name: str, title: str, kind: str, aliases: str, number: int) -> Entity:
    check_sealed("entity", name, title, kind, aliases, number)
    return Entity(name, title, tuple(json.loads(aliases)), kind)


def entity_exists(index: Index, name: str) -> bool:
    """Return whether an entity with exactly this name has a summary or a fact."""
    question = "SELECT 1 FROM entity WHERE name = ?1 UNION ALL SELECT 1 FROM fact WHERE entity = ?1 LIMIT 1"
    return index.database.execute(question, (name,)).fetchone() is not None


def entity_spelled_like(index: Index, name: str) -> str | None:
    """Return an entity whose path differs from this name by a slip behind the first letter of its last part."""
    place = name.rfind("/") + 2
    rows = index.database.execute(
        "SELECT name FROM entity WHERE name > ?1 AND name < ?1 || ?2 AND abs(length(name) - ?3) < 2 LIMIT ?4",
        (name[:place], "\U0010ffff", len(name), _MOST_COMPARED),
    )
    near = near_name(name[place - 1 :], [row[0][place - 1 :] for row in rows])
    return name[: place - 1] + near if near else None


def entity_in_same_folder(index: Index, name: str) -> str | None:
    """Return the entity whose folder is that of this name on some file systems: clawmem takes both as one."""
    if entity_exists(index, name):
        return name
    wanted = as_one_file(name)
    # Two different names of ASCII characters never have the same folder.
    odd = "" if not name.isascii() else " WHERE name GLOB '*[^ -~]*'"
    names = (row[0] for row in index.database.execute(f"SELECT name FROM entity{odd}"))
    return next((other_name for other_name in names if as_one_file(other_name) == wanted), None)


def entities_known_as(index: Index, words: str) -> list[str]:
    """Return the entities whose title or alias is exactly these words, in any spelling."""
    query = "SELECT alias, name, seal FROM alias WHERE alias = ? ORDER BY name"
    rows = index.database.execute(query, (normal(words),)).fetchall()
    for row in rows:
        check_sealed("alias", *row)
    return [name for _, name, _ in rows]


def entities_called(index: Index, names: Sequence[str]) -> dict[str, str]:
    """Return the entities with one of these titles or aliases, which are in normal form, each with that name.

    A title that is made from a path has no accents, and spaces for hyphens."""
    written = {form: name for name in names for form in (plain(name), name)}
    found = {}
    query = "SELECT alias, name, alias.seal FROM json_each(?) AS given CROSS JOIN alias ON alias = given.value"
    for alias, name, other in index.database.execute(query, (json.dumps([*written]),)):
        check_sealed("alias", alias, name, other)
        found[name] = written[alias]
    return found


def people_by_first_name(index: Index, words: Sequence[str]) -> dict[str, str]:
    """Return the people whose titles or aliases begin with one of these words, which are in normal form, each with that
    word; nobody for a word with which several begin."""
    return {min(names): word for word, names in people_beginning(index, words).items() if len(names) == 1}


def people_beginning(index: Index, words: Sequence[str]) -> dict[str, set[str]]:
    """Return for each of these words, which are in normal form, the people whose titles or aliases begin with it and go
    on; without words that nobody has."""
    found: dict[str, set[str]] = {}
    query = (
        "SELECT given.value, alias, name, alias.seal FROM json_each(?) AS given"
        " CROSS JOIN alias ON alias > given.value || ' ' AND alias < given.value || '!'"
    )
    for word, alias, name, seal in index.database.execute(query, (json.dumps(words),)):
        check_sealed("alias", alias, name, seal)
        if kind_of(name) == "person":
            found.setdefault(word, set()).add(name)
    return found


def entities_ending_in(index: Index, word: str) -> list[str]:
    """Return the entities whose present or former path ends in this word. Scans all entities."""
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
    for alias, name, other in index.database.execute(former, tail):
        check_sealed("alias", alias, name, other)
        if is_entity_name(alias):
            found.add(name)
    return sorted(found)


def fact_counts(index: Index) -> dict[str, dict[str, int]]:
    """Return the number of facts of each entity by status."""
    counts = ", ".join(f"sum(status = '{status}')" for status in STATUSES)
    rows = index.database.execute(f"SELECT entity, {counts} FROM fact INDEXED BY fact_entity GROUP BY entity")
    return {
        entity: {status: number for status, number in zip(STATUSES, numbers, strict=True) if number}
        for entity, *numbers in rows
    }


def fact_from_row(row: tuple[str, str, int, int]) -> PlacedFact:
    """Return a fact from the FACT_COLUMNS of its row. Raise RowDamaged if they are damaged."""
    check_row(row[2], row[1], row[0], row[3])
    return PlacedFact(fact_from_record(json.loads(row[0])), row[1])


# Committed files that cannot be read: what an answer may lack because of them, and the notices about it.
#
# Every row that is returned is checked against its seal. RowDamaged is raised if it does not match.


def broken_files(index: Index) -> list[tuple[str, str]]:
    """Return the committed files that cannot be read, with the reason."""
    rows = index.database.execute("SELECT path, problem, seal FROM broken ORDER BY path").fetchall()
    for row in rows:
        check_sealed("broken", *row)
    return [(path, problem) for path, problem, _ in rows]


def unreadable_fact_files(index: Index) -> list[str]:
    """Return the committed files of facts that cannot be read."""
    return [path for path, _ in broken_files(index) if file_kind(path) is ITEMS_FILE and name_of_path(path)]


def refuse_if_unreadable(index: Index, what: str) -> None:
    """Raise PossiblyUnreadable if there are unreadable facts, so that `what` may be among them."""
    if files := unreadable_fact_files(index):
        raise PossiblyUnreadable(what, files[0])


def unreadable_notices(
    index: Index, entity: str | None = None, owners: Collection[str] | None = None, facts: bool = True
) -> list[str]:
    """Return a sentence for each committed file that cannot be read.

    It is an IncompleteAnswer if the file may contain some of what was asked for: facts of `entity` and of `owners` (''
    is the global memory; None: any). With `facts` off, any file counts.
    """
    notices = []
    for path, problem in broken_files(index):
        name = name_of_path(path)
        asked = entity in (None, name) and (owners is None or (owner_of(name or "") or "") in owners)
        lacking = asked and (not facts or file_kind(path) is ITEMS_FILE)
        sentence = f"not searched: {problem} `clawmem doctor` says how to restore it."
        notices.append(IncompleteAnswer(sentence) if lacking else sentence)
    return notices
