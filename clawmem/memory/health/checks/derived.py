"""Check that the index equals a rebuild from HEAD."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, islice
from typing import NamedTuple

from clawmem.errors import ClawmemError
from clawmem.index.refresh import is_index_damage, open_index, rebuild
from clawmem.index.search.graph import check_edges
from clawmem.index.tables.contents import (
    event_ids,
    fact_lines,
    searchable_facts,
    sqlite_problem,
    summary_names,
)
from clawmem.index.tables.schema import check_passages, check_total
from clawmem.index.tables.store import Index, index_path, open_store
from clawmem.memory.health.checks.facts import CheckedFact
from clawmem.memory.health.checks.ledger import EventIds
from clawmem.memory.health.checks.problem import ERROR, INFO, HealthProblem
from clawmem.model.facts.codec import fact_to_line, parse_items
from clawmem.model.kinds import ITEMS_FILE, LEDGER_DAY, SUMMARY_PAGE, file_kind
from clawmem.model.records.entity import name_of_path
from clawmem.model.records.event import parse_events
from clawmem.vault.vault import Vault

_MAX_SHOWN = 3
_PLACE = ".git/clawmem/index.sqlite"


class ExpectedIndex(NamedTuple):
    """The expected content of the index: entity and digest of each fact, entities with a summary, and sorted hashes of
    the event ids."""

    lines: frozenset[tuple[str, str]]
    entities: frozenset[str]
    events: Sequence[int]


def expected_at_head(
    vault: Vault, facts: Iterable[CheckedFact], events: EventIds, owned: Iterable[str], waiting: Iterable[str]
) -> ExpectedIndex:
    """Return what a rebuild would contain. Files in `waiting` differ from HEAD and are read from HEAD."""
    changed = set(waiting)
    lines = {
        (checked_fact.entity, _digest(fact_to_line(checked_fact.fact)))
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


def _digest(line: str) -> str:
    """Return the id in the line of a fact and the hash of the line: a large vault has many lines."""
    return f"{line[8:21]} {hash(line)}"


def _add(path: str, data: bytes, lines: set[tuple[str, str]], entities: set[str], ids: set[str]) -> None:
    name, kind = name_of_path(path) or path, file_kind(path)
    try:
        if kind is ITEMS_FILE:
            lines.update((name, _digest(fact_to_line(fact))) for fact in parse_items(data, path))
        elif kind is SUMMARY_PAGE:
            entities.add(name)
        elif kind is LEDGER_DAY:
            ids.update(event.id for event in parse_events(data, path))
    except ClawmemError:
        return  # the index skips such a file too, and reports it


def index_problems(vault: Vault, expected: ExpectedIndex, full: bool) -> Iterator[HealthProblem]:
    """Yield the differences of the updated index from a rebuild; nothing if there is no index.

    With `full`, an index without a difference is rebuilt: a word that is missing in it shows in no row."""
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
            check_edges(index)  # reads every fact and checks its checksum
            check_total(index)
            check_passages(index)
        if clean and full:
            index.close()
            index = rebuild(vault)
    except (ClawmemError, OSError):
        raise
    except Exception as damage:
        if not is_index_damage(index, damage):
            raise
        yield _index_problem(f"it cannot be read ({damage})")
    finally:
        index.close()


def _compared(index: Index, expected: ExpectedIndex) -> Iterator[HealthProblem]:
    problem = sqlite_problem(index)
    if problem is not None:
        yield _index_problem(f"SQLite says: {problem}")
        return
    rows = [(name, _digest(line)) for name, line in fact_lines(index)]
    found = frozenset(rows)
    yield from _differences("facts", expected.lines, found)
    if len(rows) != len(found):
        yield _index_problem(f"{len(rows) - len(found)} facts are in it twice")
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
    return f"{value[0]} {value[1].partition(' ')[0]}" if isinstance(value, tuple) else str(value)


def _index_problem(why: str) -> HealthProblem:
    return HealthProblem(ERROR, "index", _PLACE, None, f"The index differs from a rebuild: {why}.", fixable=True)
