"""Facts that a person moved from file to file, and which places hang together by that."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from clawmem.model.records.entity import name_of_path

Places = Mapping[str, Mapping[str, Any]]
"""By place what stands there, by the id of each fact."""


class MovedFact(NamedTuple):
    """A fact that is no longer in one place and is new in another."""

    id: str
    old: str
    new: str


def place_of(path: str) -> str:
    """What a file is edited as part of: its entity, or itself."""
    return name_of_path(path) or path


def travels(before: Places, after: Places) -> tuple[MovedFact, ...]:
    """The facts that went from one place to another."""
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
    """The places in groups: those between which facts went are together."""
    group = {place: {place} for place in places}
    for one in went:
        if group[one.old] is not group[one.new]:
            group[one.old] |= group[one.new]
            group.update(dict.fromkeys(group[one.old], group[one.old]))
    return tuple(sorted({tuple(sorted(members)) for members in group.values()}))
