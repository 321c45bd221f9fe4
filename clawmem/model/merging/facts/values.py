"""Three versions of one value made one: what one side changed counts; where both did, a rule that knows no sides."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, TypeVar

_Value = TypeVar("_Value")
_Item = TypeVar("_Item", bound=Hashable)


class _Missing:
    """No value at all: equal to nothing but itself."""


MISSING: Any = _Missing()


def three_way(base: Any, ours: _Value, theirs: _Value, join: Callable[[_Value, _Value], _Value]) -> _Value:
    """The value that one side changed, or `join` of both where both did; `base` is MISSING where there was none."""
    if ours == theirs or theirs == base:
        return ours
    return theirs if ours == base else join(ours, theirs)


def canonical(value: object) -> str:
    """A value as text that sorts the same everywhere."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)


def fuller(one: Any, other: Any) -> Any:
    """Of two values the one that says something, else the one that sorts last: any rule would do that is the same on
    every machine."""
    return max(one, other, key=lambda value: (value is not None and value is not MISSING, canonical(value)))


def fuller_group(one: tuple[Any, ...], other: tuple[Any, ...]) -> tuple[Any, ...]:
    """Of two groups of values that belong together the one that says more."""
    return max(one, other, key=lambda group: (sum(value is not None for value in group), canonical(group)))


def merged_names(base: Sequence[_Item], ours: Sequence[_Item], theirs: Sequence[_Item]) -> tuple[_Item, ...]:
    """What neither side took out, in its old order, then what either added, sorted."""

    before, one, other = tuple(base), tuple(ours), tuple(theirs)
    if one == other or other == before:
        return one
    if one == before:
        return other
    kept = [item for item in before if item in one and item in other]
    added = {item for item in (*one, *other) if item not in before}
    return (*kept, *sorted(added, key=canonical))


def merged_mapping(
    base: Mapping[str, Any] | None, ours: Mapping[str, Any] | None, theirs: Mapping[str, Any] | None, depth: int = 1
) -> dict[str, Any]:
    """Objects merged key by key, `depth` objects deep; below that a value is one thing. Lists are united."""
    before, one, other = base or {}, ours or {}, theirs or {}
    keys = [*before, *sorted({*one, *other} - {*before})]
    merged = {}
    for key in keys:
        versions = [side.get(key, MISSING) for side in (before, one, other)]
        value = _merged_value(versions, depth)
        if value is not MISSING:
            merged[key] = value
    return merged


def _merged_value(versions: list[Any], depth: int) -> Any:
    base, ours, theirs = versions

    def join(one: Any, other: Any) -> Any:
        if depth > 1 and isinstance(one, Mapping) and isinstance(other, Mapping):
            return merged_mapping(base if isinstance(base, Mapping) else None, one, other, depth - 1)
        if isinstance(one, list) and isinstance(other, list):
            return _merged_list(base if isinstance(base, list) else [], one, other)
        return fuller(one, other)

    return three_way(base, ours, theirs, join)


def _merged_list(base: list[Any], ours: list[Any], theirs: list[Any]) -> list[Any]:
    """Lists of any JSON values, as sets of what they would look like."""
    forms = {canonical(value): value for value in (*base, *ours, *theirs)}
    names = merged_names([*map(canonical, base)], [*map(canonical, ours)], [*map(canonical, theirs)])
    return [forms[name] for name in names]


def interleaved(
    ours: Sequence[_Item], theirs: Sequence[_Item], when: Callable[[_Item], str], name: Callable[[_Item], str]
) -> list[_Item]:
    """Two sequences as one by time, each in its own order; of the same time, the whole run whose head's name sorts
    first."""
    one, other, merged = list(ours), list(theirs), list[_Item]()
    while one and other:
        heads = (when(one[0]), name(one[0])), (when(other[0]), name(other[0]))
        source = one if heads[0] <= heads[1] else other
        time = when(source[0])
        while source and when(source[0]) == time:
            merged.append(source.pop(0))
    return [*merged, *one, *other]
