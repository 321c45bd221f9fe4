"""Facts with the files they stand in: how a side's files become one table, and a table becomes files again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from clawmem.model.facts.fact import Fact

Shelves = Mapping[str, tuple[Fact, ...]]
"""The facts of each `items.json`, in the order they stand."""


class FiledFact(NamedTuple):
    """A fact and the path of its file."""

    fact: Fact
    path: str


def table(shelves: Shelves) -> dict[str, FiledFact]:
    """Facts by id; of an id that stands twice the first counts."""
    found: dict[str, FiledFact] = {}
    for path in sorted(shelves):
        for fact in shelves[path]:
            found.setdefault(fact.id, FiledFact(fact, path))
    return found


def shelved(
    facts: Mapping[str, FiledFact], base: Shelves, ours: Shelves, theirs: Shelves
) -> dict[str, tuple[Fact, ...]]:
    """The files that hold these facts: as a side has them where it holds just these, else what was there first in its
    old order, then the new ones by time."""
    by_path: dict[str, dict[str, Fact]] = {path: {} for path in {*base, *ours, *theirs}}
    for fact_id, one in facts.items():
        by_path.setdefault(one.path, {})[fact_id] = one.fact
    return {path: _in_order(path, held, base, ours, theirs) for path, held in by_path.items()}


def _in_order(path: str, held: Mapping[str, Fact], *sides: Shelves) -> tuple[Fact, ...]:
    base, ours, theirs = (side.get(path, ()) for side in sides)
    same = [side for side in (ours, theirs) if len(side) == len(held) and all(held.get(one.id) == one for one in side)]
    if same:
        # Where one side only put them in another order, that order counts.
        changed = [side for side in same if _names(side) != _names(base)]
        return max(changed or same, key=_names)
    first = [fact.id for fact in base if fact.id in held]
    added = sorted((fact.timestamp, key) for key, fact in held.items() if key not in set(first))
    return tuple(held[key] for key in (*first, *(key for _, key in added)))


def _names(facts: Sequence[Fact]) -> list[str]:
    return [fact.id for fact in facts]
