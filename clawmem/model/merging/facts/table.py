"""Convert between the facts of each file and one table of facts by id."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from clawmem.model.facts.fact import Fact

FactsByPath = Mapping[str, tuple[Fact, ...]]
"""The facts of each `items.json`, in file order."""


class FiledFact(NamedTuple):
    """A fact and the path of its file."""

    fact: Fact
    path: str


def facts_by_id(files: FactsByPath) -> dict[str, FiledFact]:
    """Return the facts by id; of an id that occurs twice, the first one."""
    found: dict[str, FiledFact] = {}
    for path in sorted(files):
        for fact in files[path]:
            found.setdefault(fact.id, FiledFact(fact, path))
    return found


def facts_by_path(
    facts: Mapping[str, FiledFact], base: FactsByPath, ours: FactsByPath, theirs: FactsByPath
) -> dict[str, tuple[Fact, ...]]:
    """Return the facts by file.

    A file keeps a side's order if that side has exactly these facts. Else the old facts come first in their old
    order, then the new ones by time.
    """
    by_path: dict[str, dict[str, Fact]] = {path: {} for path in {*base, *ours, *theirs}}
    for fact_id, filed_fact in facts.items():
        by_path.setdefault(filed_fact.path, {})[fact_id] = filed_fact.fact
    return {path: _in_order(path, record, base, ours, theirs) for path, record in by_path.items()}


def _in_order(path: str, record: Mapping[str, Fact], *sides: FactsByPath) -> tuple[Fact, ...]:
    base, ours, theirs = (side.get(path, ()) for side in sides)
    same = [
        side
        for side in (ours, theirs)
        if len(side) == len(record) and all(record.get(fact.id) == fact for fact in side)
    ]
    if same:
        # If only one side changed the order, its order wins.
        changed = [side for side in same if _names(side) != _names(base)]
        return max(changed or same, key=_names)
    first = [fact.id for fact in base if fact.id in record]
    added = sorted((fact.timestamp, key) for key, fact in record.items() if key not in set(first))
    return tuple(record[key] for key in (*first, *(key for _, key in added)))


def _names(facts: Sequence[Fact]) -> list[str]:
    return [fact.id for fact in facts]
