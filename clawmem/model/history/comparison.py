"""What became of facts between two states of the vault: learned, corrected, retracted, archived, changed, removed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from clawmem.errors import InvalidInput
from clawmem.model.facts.codec import fact_from_record
from clawmem.model.facts.fact import ARCHIVED, RETRACTED, SUPERSEDED, Fact
from clawmem.model.records.strict_json import read_json

LEARNED = "learned"
CORRECTED = "corrected"
CHANGED = "changed"
REMOVED = "removed"
KINDS = (LEARNED, CORRECTED, RETRACTED, ARCHIVED, CHANGED, REMOVED)

Placed = Mapping[str, tuple[Fact, str]]
"""Facts by id, each with the entity it stands in."""


class FactDifference(NamedTuple):
    """One fact that differs: its kind of change, the fact as it is after (for `removed`, as it was), its entity, and
    what stood before: the same fact's earlier state, or for `corrected` the fact that was replaced."""

    kind: str
    fact: Fact
    entity: str
    before: Fact | None = None


def bare(fact: Fact) -> Fact:
    """The fact without its access counters, which change on every fold and mean nothing here."""
    return fact._replace(access_count=0, last_accessed=None)


def differences(before: Placed, after: Placed) -> tuple[FactDifference, ...]:
    """How the facts of two states differ, in the order of the later state, removed ones last.

    A correction is told once, on the fact that stands: the change of the replaced fact is not told again.
    """
    replaced = {fact_id: by for fact_id in after if (by := _replaced_by(fact_id, before, after))}
    successors = frozenset(replaced.values())
    found = []
    for fact_id, (fact, entity) in after.items():
        old = before[fact_id][0] if fact_id in before else None
        told = fact_id in successors
        if old is None and not told:
            found.append(FactDifference(LEARNED, fact, entity))
        if fact_id in replaced:
            found.append(FactDifference(CORRECTED, *after[replaced[fact_id]], old or fact))
        elif old is not None and bare(old) != bare(fact):
            kind = _kind(old, fact)
            if kind != CHANGED or not told:
                found.append(FactDifference(kind, fact, entity, old))
    found += [FactDifference(REMOVED, fact, entity, fact) for key, (fact, entity) in before.items() if key not in after]
    return tuple(found)


def moves(before: Placed, after: Placed) -> dict[tuple[str, str], int]:
    """How many facts went from one entity to another, by the two names."""
    counted: dict[tuple[str, str], int] = {}
    for fact_id, (_, entity) in after.items():
        old = before.get(fact_id)
        if old and old[1] != entity:
            counted[old[1], entity] = counted.get((old[1], entity), 0) + 1
    return counted


def record_in(data: bytes, fact_id: str) -> Fact | None:
    """One fact out of an `items.json`, found without reading the others; None where it is not there or not readable.

    Only files with one fact a line are looked into, which is how clawmem writes them.
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
    """The ids of the facts this one stands on: its successor, its links, and what a decision says it used."""
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


def _replaced_by(fact_id: str, before: Placed, after: Placed) -> str | None:
    """The fact that took this one's place between the two states, or None."""
    fact = after[fact_id][0]
    old = before.get(fact_id)
    newly = fact.status == SUPERSEDED and (old is None or old[0].status != SUPERSEDED)
    return fact.superseded_by if newly and fact.superseded_by in after else None


def _kind(old: Fact, new: Fact) -> str:
    if old.status != new.status and new.status in (RETRACTED, ARCHIVED):
        return new.status
    return CHANGED
