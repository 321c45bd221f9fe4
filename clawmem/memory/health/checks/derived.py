"""Check that the index equals a rebuild from HEAD.

Comparing two indexes in everything that a reader can see: rows without their numbers, and every word of every
text.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby, islice
from typing import NamedTuple

from clawmem.errors import ClawmemError
from clawmem.index.refresh.refresh import FOLDERS, is_index_damage, look_outside, open_index
from clawmem.index.search.graph import check_edges
from clawmem.index.tables.contents import (
    event_ids,
    fact_lines,
    searchable_facts,
    sqlite_problem,
    summary_names,
)
from clawmem.index.tables.intake import take_in
from clawmem.index.tables.schema import FACT_WORDS, SPOKEN_WORDS
from clawmem.index.tables.seals import check_passages, check_total
from clawmem.index.tables.store import Index, create_temporary, index_path, open_store
from clawmem.memory.health.checks.facts import CheckedFact
from clawmem.memory.health.checks.ledger import EventIds
from clawmem.memory.health.checks.problem import ERROR, INFO, HealthProblem
from clawmem.model.facts.codec import fact_to_line, parse_items
from clawmem.model.kinds import ITEMS_FILE, LEDGER_DAY, SUMMARY_PAGE, file_kind
from clawmem.model.records.entity import name_of_path
from clawmem.model.records.event import parse_events
from clawmem.model.search.passage import SPREAD, row_of
from clawmem.vault.vault import Vault

_MAX_SHOWN = 3
_PLACE = ".git/clawmem/index.sqlite"


class ExpectedIndex(NamedTuple):
    """The expected content of the index: (entity, line) of each fact, entities with a summary, and sorted hashes of the
    event ids."""

    lines: frozenset[tuple[str, str]]
    entities: frozenset[str]
    events: Sequence[int]


def expected_at_head(
    vault: Vault, facts: Iterable[CheckedFact], events: EventIds, owned: Iterable[str], waiting: Iterable[str]
) -> ExpectedIndex:
    """Return what a rebuild would contain. Files in `waiting` differ from HEAD and are read from HEAD."""
    changed = set(waiting)
    lines = {
        (checked_fact.entity, fact_to_line(checked_fact.fact))
        for checked_fact in facts
        if checked_fact.path not in changed
    }
    entities = {name_of_path(path) or "" for path in owned if file_kind(path) is SUMMARY_PAGE and path not in changed}
    more: set[str] = set()
    head = vault.head().commit
    if head and changed:
        for path, data in vault.contents_at(head, sorted(changed)).items():
            if data is not None:
                _add(path, data, lines, entities, more)
    ids = sorted([*events.digests(changed), *map(hash, more)])
    return ExpectedIndex(frozenset(lines), frozenset(entities - {""}), [number for number, _ in groupby(ids)])


def _add(path: str, data: bytes, lines: set[tuple[str, str]], entities: set[str], ids: set[str]) -> None:
    name, kind = name_of_path(path) or path, file_kind(path)
    try:
        if kind is ITEMS_FILE:
            lines.update((name, fact_to_line(fact)) for fact in parse_items(data, path))
        elif kind is SUMMARY_PAGE:
            entities.add(name)
        elif kind is LEDGER_DAY:
            ids.update(event.id for event in parse_events(data, path))
    except ClawmemError:
        return  # the index skips such a file too, and reports it


def index_problems(vault: Vault, expected: ExpectedIndex, full: bool) -> Iterator[HealthProblem]:
    """Yield the differences of the updated index from a rebuild; nothing if there is no index.

    With `full`, the index is rebuilt in memory, and every row and word is compared."""
    if not index_path(vault).exists():
        return
    index = open_store(vault)
    if index is None:
        message = "The index has another version, engine or boot id, or is damaged; the next command rebuilds it."
        yield HealthProblem(INFO, "index", _PLACE, None, message, fixable=True)
        return
    try:
        if index.head() != vault.head().commit:
            index.close()
            index = open_index(vault)
        clean = True
        for problem in _compared(index, expected):
            clean = False
            yield problem
        if clean:
            _check_seals(index)
        if clean and full:
            yield from _rebuilt(vault, index)
    except (ClawmemError, OSError):
        raise
    except Exception as damage:
        if not is_index_damage(index, damage):
            raise
        yield _index_problem(f"it cannot be read ({damage})")
    finally:
        index.close()


def _check_seals(index: Index) -> None:
    check_edges(index)  # reads every fact and checks its checksum
    check_total(index)
    check_passages(index)


def _rebuilt(vault: Vault, index: Index) -> Iterator[HealthProblem]:
    commit = index.head()
    if commit is None:
        return
    wanted = build_reference_index(vault, commit)
    try:
        found = find_difference(index, wanted)
    finally:
        wanted.close()
    if found:
        yield _index_problem(found)


def _compared(index: Index, expected: ExpectedIndex) -> Iterator[HealthProblem]:
    problem = sqlite_problem(index)
    if problem is not None:
        yield _index_problem(f"SQLite says: {problem}")
        return
    rows = fact_lines(index)
    yield from _differences("facts", expected.lines, frozenset(rows))
    if len(rows) != len(set(rows)):
        yield _index_problem(f"{len(rows) - len(set(rows))} facts are in it twice")
    yield from _differences("entities", expected.entities, summary_names(index))
    yield from _event_differences(index, expected.events)
    words = searchable_facts(index)
    if words not in (None, len(rows)):
        yield _index_problem(f"keyword search knows {words} texts of {len(rows)} facts")


def _differences(what: str, wanted: frozenset[object], found: frozenset[object]) -> Iterator[HealthProblem]:
    missing, surplus = wanted - found, found - wanted
    if missing or surplus:
        shown = ", ".join(_describe(value) for value in sorted(missing | surplus, key=str)[:_MAX_SHOWN])
        yield _index_problem(f"{len(missing)} {what} are missing and {len(surplus)} should not be there ({shown})")


def _event_differences(index: Index, wanted: Sequence[int]) -> Iterator[HealthProblem]:
    found = sorted(map(hash, event_ids(index)))
    if found == wanted:
        return
    missing, surplus = set(wanted).difference(found), set(found).difference(wanted)
    named = (event_id for event_id in event_ids(index) if hash(event_id) in surplus)
    shown = f" ({', '.join(islice(named, _MAX_SHOWN))})" if surplus else ""
    yield _index_problem(f"{len(missing)} events are missing and {len(surplus)} should not be there{shown}")


def _describe(value: object) -> str:
    return f"{value[0]} {value[1][8:21]}" if isinstance(value, tuple) else str(value)


def _index_problem(why: str) -> HealthProblem:
    return HealthProblem(ERROR, "index", _PLACE, None, f"The index differs from a rebuild: {why}.", fixable=True)


_BATCH = 500
_BYTES_BATCH = 4_000_000
# Filled in by the heartbeat, or different in every index.
_IGNORED = frozenset(("n", "seal", "tokens", "exact", "verdict"))
_BITS = (1 << 64) - 1


def build_reference_index(vault: Vault, commit: str) -> Index:
    """Build the correct index of a commit. Every object of it is checked. Runs git."""
    index = create_temporary(vault)
    with index.writing():
        for paths in _batches(vault.blobs_at(commit, *FOLDERS)):
            take_in(index, vault.contents_at(commit, paths))
        look_outside(vault, index, commit)
    return index


def _batches(sizes: Mapping[str, tuple[str, int]]) -> Iterator[list[str]]:
    """Yield the paths in order, in batches limited by number and by bytes."""
    paths, size = list[str](), 0
    for path, (_, bytes_) in sizes.items():
        if paths and (len(paths) == _BATCH or size + bytes_ > _BYTES_BATCH):
            yield paths
            paths, size = [], 0
        paths.append(path)
        size += bytes_
    if paths:
        yield paths


def find_difference(index: Index, other: Index) -> str | None:
    """Return the first difference of two indexes in words, or None.

    The table `meta` is not compared, and words only if both indexes use FTS5.
    """
    mine, yours = _tables(index), _tables(other)
    for table in sorted({*mine, *yours}):
        if mine.get(table) != yours.get(table) or _digest(index, table) != _digest(other, table):
            return f"its table of {table} differs"
    if index.engine.name != "fts5" or other.engine.name != "fts5":
        return None
    for table in (FACT_WORDS, SPOKEN_WORDS):
        if _words(index, table) != _words(other, table):
            return f"keyword search has other {table}"
    return None


def _tables(index: Index) -> dict[str, tuple[str, ...]]:
    """Return the compared columns of each table."""
    names = [row[0] for row in index.database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    kept = [name for name in names if not name.startswith((FACT_WORDS, SPOKEN_WORDS, "sqlite_")) and name != "meta"]
    tables = {}
    for name in kept:
        columns = [row[1] for row in index.database.execute(f"PRAGMA table_info({name})")]
        tables[name] = tuple(column for column in columns if column not in _IGNORED)
    return {**tables, "total": ("facts",)}


def _digest(index: Index, table: str) -> int:
    columns = ", ".join(f"{table}.{name}" for name in _tables(index)[table])
    query = f"SELECT {columns} FROM {table}"
    if table == "edge":
        query = "SELECT fact.id, fact.entity, kind, target FROM edge LEFT JOIN fact USING (n)"
    return _sum(index.database.execute(query))


def _words(index: Index, table: str) -> int:
    """Return a digest of every occurrence of every word: the text and the position in it."""
    names = _names(index, table)
    database = index.database
    database.execute(f"CREATE VIRTUAL TABLE temp.places USING fts5vocab(main, {table}, instance)")
    try:
        rows = database.execute("SELECT term, doc, offset FROM temp.places")
        return _sum((term, _name(names, table, doc), at) for term, doc, at in rows)
    finally:
        database.execute("DROP TABLE temp.places")


def _names(index: Index, table: str) -> Mapping[int, object]:
    """Return an identifier of each row that is the same in any index; a hash for events and notes, which are many."""
    execute = index.database.execute
    if table == FACT_WORDS:
        return {n: (entity, fact_id) for n, entity, fact_id in execute("SELECT n, entity, id FROM fact")}
    names: dict[int, object] = {n: hash((day, event)) for n, day, event in execute("SELECT n, day, id FROM event")}
    names.update((-n, hash((path, place))) for n, path, place in execute("SELECT n, path, place FROM note"))
    return names


def _name(names: Mapping[int, object], table: str, doc: int) -> object:
    if table == FACT_WORDS:
        return names.get(doc)
    return names.get(row_of(doc)), abs(doc) % SPREAD


def _sum(rows: Iterable[tuple[object, ...]]) -> int:
    """Return a digest of a set of rows in any order, with constant memory. Duplicate rows count twice."""
    total = count = 0
    for row in rows:
        total = (total + hash(row)) & _BITS
        count += 1
    return (total << 64) | count
