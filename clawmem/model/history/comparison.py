"""Compare the facts of two states of the vault: learned, corrected, retracted, archived, changed, removed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from clawmem.errors import InvalidInput
from clawmem.model.facts.codec import fact_from_record
from clawmem.model.facts.fact import ARCHIVED, RETRACTED, SUPERSEDED, Fact
from clawmem.model.lifecycle.premises import without_record
from clawmem.model.records.strict_json import read_json

LEARNED = "learned"
CORRECTED = "corrected"
CHANGED = "changed"
REMOVED = "removed"
KINDS = (LEARNED, CORRECTED, RETRACTED, ARCHIVED, CHANGED, REMOVED)

FORGOTTEN_KINDS = (RETRACTED, ARCHIVED, REMOVED)

FactsById = Mapping[str, tuple[Fact, str]]
"""Facts by id, each with its entity."""


class FactDifference(NamedTuple):
    """One fact that differs.

    `fact` is the later state, or the last one if the kind is `removed`. `before` is the fact's earlier state, or the
    replaced fact if the kind is `corrected`.
    """

    kind: str
    fact: Fact
    entity: str
    before: Fact | None = None


def bare(fact: Fact) -> Fact:
    """Return the fact without its access counters and its record of changed premises, which are computed and do not
    count as a change."""
    return without_record(fact)._replace(access_count=0, last_accessed=None)


def differences(before: FactsById, after: FactsById) -> tuple[FactDifference, ...]:
    """Return how the facts of two states differ, in the order of the later state, removed ones last.

    A correction appears once, with the fact that replaced another one; the replaced fact is not listed again.
    """
    replaced = {fact_id: by for fact_id in after if (by := _replaced_by(fact_id, before, after))}
    successors = frozenset(replaced.values())
    found = []
    for fact_id, (fact, entity) in after.items():
        old = before[fact_id][0] if fact_id in before else None
        is_successor = fact_id in successors
        if old is None and not is_successor:
            found.append(FactDifference(LEARNED, fact, entity))
        if fact_id in replaced:
            found.append(FactDifference(CORRECTED, *after[replaced[fact_id]], old or fact))
        elif old is not None and bare(old) != bare(fact):
            kind = _kind(old, fact)
            if kind != CHANGED or not is_successor:
                found.append(FactDifference(kind, fact, entity, old))
    found += [FactDifference(REMOVED, fact, entity, fact) for key, (fact, entity) in before.items() if key not in after]
    return tuple(found)


def count_moves(before: FactsById, after: FactsById) -> dict[tuple[str, str], int]:
    """Return how many facts moved, by old and new entity."""
    counted: dict[tuple[str, str], int] = {}
    for fact_id, (_, entity) in after.items():
        old = before.get(fact_id)
        if old and old[1] != entity:
            counted[old[1], entity] = counted.get((old[1], entity), 0) + 1
    return counted


def read_single_fact(data: bytes, fact_id: str) -> Fact | None:
    """Read one fact from an `items.json` without parsing the others; return None if it is missing or unreadable.

    This needs one fact per line, as clawmem writes the file.
    """
    quoted = f'"{fact_id}"'.encode()
    for line in data.split(b"\n"):
        if quoted not in line:
            continue
        try:
            fact = fact_from_record(read_json(line.strip().rstrip(b",")))
        except (ValueError, AttributeError, InvalidInput):
            continue
        if fact.id == fact_id:
            return fact
    return None


def points_at(fact: Fact) -> frozenset[str]:
    """Return the ids of the facts that this one refers to: its successor, its links, and the ids in its details."""
    ids = {link.to for link in fact.links} | set(_ids_in(fact.details))
    return frozenset(ids | ({fact.superseded_by} if fact.superseded_by else set()))


def _ids_in(value: object) -> Iterable[str]:
    if isinstance(value, str):
        if value.startswith("fact_"):
            yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _ids_in(each)
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _ids_in(each)


def _replaced_by(fact_id: str, before: FactsById, after: FactsById) -> str | None:
    """Return the fact that replaced this one between the two states, or None."""
    fact = after[fact_id][0]
    old = before.get(fact_id)
    newly = fact.status == SUPERSEDED and (old is None or old[0].status != SUPERSEDED)
    return fact.superseded_by if newly and fact.superseded_by in after else None


def _kind(old: Fact, new: Fact) -> str:
    if old.status != new.status and new.status in (RETRACTED, ARCHIVED):
        return new.status
    return CHANGED


def told_changes(changes: Iterable[FactDifference]) -> tuple[FactDifference, ...]:
    """Return the changes of a time as its end shows them: what was learned and withdrawn in it is withdrawn, and what
    was learned and replaced in it is told with what replaced it."""
    shown = []
    for change in changes:
        status = change.fact.status
        if change.kind == LEARNED and status in (RETRACTED, ARCHIVED):
            shown.append(change._replace(kind=status))
        elif change.kind != LEARNED or status != SUPERSEDED:
            shown.append(change)
    return tuple(shown)


def count_kinds(changes: Iterable[FactDifference]) -> Counter[str]:
    """Return how many changes there are of each kind."""
    return Counter(change.kind for change in changes)
