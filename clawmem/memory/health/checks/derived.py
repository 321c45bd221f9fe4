"""The index against what it must be: exactly what a rebuild from HEAD would give."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, islice
from typing import NamedTuple

from clawmem.errors import ClawmemError
from clawmem.index.refresh.comparison import build_reference_index, find_difference
from clawmem.index.refresh.refresh import is_index_damage, open_index
from clawmem.index.search.graph import check_edges
from clawmem.index.tables.contents import (
    event_ids,
    fact_lines,
    searchable_facts,
    sqlite_problem,
    summary_names,
)
from clawmem.index.tables.seals import check_passages, check_total
from clawmem.index.tables.store import Index, index_path, open_store
from clawmem.memory.health.checks.facts import CheckedFact
from clawmem.memory.health.checks.ledger import EventIds
from clawmem.memory.health.checks.problem import ERROR, INFO, HealthProblem
from clawmem.model.facts.codec import fact_to_line, parse_items
from clawmem.model.records.entity import ITEMS, SUMMARY, name_of_path
from clawmem.model.records.event import parse_events
from clawmem.vault.vault import Vault

_SHOWN = 3
_PLACE = ".git/clawmem/index.sqlite"


class ExpectedIndex(NamedTuple):
    """What the index must hold: (entity, line) of each fact, entities with a summary, the digests of events' ids,
    sorted."""

    lines: frozenset[tuple[str, str]]
    entities: frozenset[str]
    events: Sequence[int]


def expected_at_head(
    vault: Vault, facts: Iterable[CheckedFact], events: EventIds, owned: Iterable[str], waiting: Iterable[str]
) -> ExpectedIndex:
    """What a rebuild would give. Files in `waiting` differ from HEAD and are
    read from there, all others count as the work tree has them."""
    changed = set(waiting)
    lines = {(one.entity, fact_to_line(one.fact)) for one in facts if one.path not in changed}
    entities = {name_of_path(path) or "" for path in owned if path.endswith(f"/{SUMMARY}") and path not in changed}
    more: set[str] = set()
    head = vault.head().commit
    if head and changed:
        for path, data in vault.contents_at(head, sorted(changed)).items():
            if data is not None:
                _add(path, data, lines, entities, more)
    ids = sorted([*events.digests(changed), *map(hash, more)])
    return ExpectedIndex(frozenset(lines), frozenset(entities - {""}), [one for one, _ in groupby(ids)])


def _add(path: str, data: bytes, lines: set[tuple[str, str]], entities: set[str], ids: set[str]) -> None:
    name = name_of_path(path)
    try:
        if name is not None and path.endswith(ITEMS):
            lines.update((name, fact_to_line(fact)) for fact in parse_items(data, path))
        elif name is not None:
            entities.add(name)
        elif path.startswith("ledger/"):
            ids.update(event.id for event in parse_events(data, path))
    except ClawmemError:
        return  # the index leaves such a file out as well, and says so


def index_problems(vault: Vault, expected: ExpectedIndex, full: bool) -> Iterator[HealthProblem]:
    """How the index, brought to HEAD as any read would, differs from a rebuild; nothing where there is none. With
    `full` a rebuild is made, and every row and every word compared."""
    if not index_path(vault).exists():
        return
    index = open_store(vault)
    if index is None:
        message = "The index is of another version, engine or boot, or damaged; the next command builds it anew."
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
        yield _wrong(f"it cannot be read ({damage})")
    finally:
        index.close()


def _check_seals(index: Index) -> None:
    check_edges(index)  # which reads every fact, and holds it against its seal
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
        yield _wrong(found)


def _compared(index: Index, expected: ExpectedIndex) -> Iterator[HealthProblem]:
    problem = sqlite_problem(index)
    if problem is not None:
        yield _wrong(f"SQLite says: {problem}")
        return
    rows = fact_lines(index)
    yield from _differences("facts", expected.lines, frozenset(rows))
    if len(rows) != len(set(rows)):
        yield _wrong(f"{len(rows) - len(set(rows))} facts stand in it twice")
    yield from _differences("entities", expected.entities, summary_names(index))
    yield from _event_differences(index, expected.events)
    words = searchable_facts(index)
    if words not in (None, len(rows)):
        yield _wrong(f"keyword search knows {words} texts of {len(rows)} facts")


def _differences(what: str, wanted: frozenset[object], found: frozenset[object]) -> Iterator[HealthProblem]:
    missing, surplus = wanted - found, found - wanted
    if missing or surplus:
        shown = ", ".join(_brief(one) for one in sorted(missing | surplus, key=str)[:_SHOWN])
        yield _wrong(f"{len(missing)} {what} are missing and {len(surplus)} should not be there ({shown})")


def _event_differences(index: Index, wanted: Sequence[int]) -> Iterator[HealthProblem]:
    found = sorted(map(hash, event_ids(index)))
    if found == wanted:
        return
    missing, surplus = set(wanted).difference(found), set(found).difference(wanted)
    named = (one for one in event_ids(index) if hash(one) in surplus)
    shown = f" ({', '.join(islice(named, _SHOWN))})" if surplus else ""
    yield _wrong(f"{len(missing)} events are missing and {len(surplus)} should not be there{shown}")


def _brief(one: object) -> str:
    return f"{one[0]} {one[1][8:21]}" if isinstance(one, tuple) else str(one)


def _wrong(why: str) -> HealthProblem:
    return HealthProblem(
        ERROR, "index", _PLACE, None, f"The index is not what a rebuild would give: {why}.", fixable=True
    )
