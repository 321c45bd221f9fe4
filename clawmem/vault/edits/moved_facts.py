"""Facts that were moved by hand from file to file, and the places that are connected by such moves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from clawmem.model.named_tuple import NamedTuple
from clawmem.model.records.entity import name_of_path

Places = Mapping[str, Mapping[str, Any]]
"""The facts of each place, by id."""


class MovedFact(NamedTuple):
    """A fact that was removed from one place and added to another."""

    id: str
    old: str
    new: str


def place_of(path: str) -> str:
    """Return the place that a file belongs to: its entity, or the file itself."""
    return name_of_path(path) or path


def facts_moved(before: Places, after: Places) -> tuple[MovedFact, ...]:
    """Return the facts that moved from one place to another."""
    arrived: dict[str, list[str]] = {}
    for place, facts in after.items():
        for key in facts.keys() - before.get(place, {}).keys():
            arrived.setdefault(key, []).append(place)
    return tuple(
        MovedFact(key, place, new)
        for place, facts in before.items()
        for key in facts
        if key not in after.get(place, {})
        for new in arrived.get(key, ())
    )


def gathered(places: Iterable[str], went: Iterable[MovedFact]) -> tuple[tuple[str, ...], ...]:
    """Group the places so that places between which facts moved are in one group."""
    group = {place: {place} for place in places}
    for one in went:
        if group[one.old] is not group[one.new]:
            group[one.old] |= group[one.new]
            group.update(dict.fromkeys(group[one.old], group[one.old]))
    return tuple(sorted({tuple(sorted(members)) for members in group.values()}))
