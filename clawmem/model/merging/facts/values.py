"""Three-way merge of single values; where both sides changed one, a symmetric rule decides."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, TypeVar

_Value = TypeVar("_Value")
_Item = TypeVar("_Item", bound=Hashable)


class _Missing:
    """The absence of a value; equal only to itself."""


MISSING: Any = _Missing()


def three_way(base: Any, ours: _Value, theirs: _Value, join: Callable[[_Value, _Value], _Value]) -> _Value:
    """Return the changed value, or `join` of both if both sides changed it; `base` is MISSING if there was no value."""
    if ours == theirs or theirs == base:
        return ours
    return theirs if ours == base else join(ours, theirs)


def canonical(value: object) -> str:
    """Return a value as text with a stable sort order."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, default=str)


def more_complete(other_any: Any, other: Any) -> Any:
    """Return the value that is set, else the one that sorts last, so that every machine picks the same one."""

    return max(other_any, other, key=lambda value: (value is not None and value is not MISSING, canonical(value)))


def more_complete_group(items: tuple[Any, ...], other: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the group with more values set, else the one that sorts last."""
    return max(items, other, key=lambda group: (sum(value is not None for value in group), canonical(group)))


def merged_names(base: Sequence[_Item], ours: Sequence[_Item], theirs: Sequence[_Item]) -> tuple[_Item, ...]:
    """Return the items that neither side removed, in their old order, then the added ones, sorted."""
    before, items, other = tuple(base), tuple(ours), tuple(theirs)
    if items == other or other == before:
        return items
    if items == before:
        return other
    kept = [item for item in before if item in items and item in other]
    added = {item for item in (*items, *other) if item not in before}
    return (*kept, *sorted(added, key=canonical))


def merge_mappings(
    base: Mapping[str, Any] | None, ours: Mapping[str, Any] | None, theirs: Mapping[str, Any] | None, depth: int = 1
) -> dict[str, Any]:
    """Merge objects key by key, `depth` levels deep; deeper values are merged as a whole. Lists are united."""
    before, record, other = base or {}, ours or {}, theirs or {}
    keys = [*before, *sorted({*record, *other} - {*before})]
    merged = {}
    for key in keys:
        versions = [side.get(key, MISSING) for side in (before, record, other)]
        value = _merged_value(versions, depth)
        if value is not MISSING:
            merged[key] = value
    return merged


def _merged_value(versions: list[Any], depth: int) -> Any:
    base, ours, theirs = versions

    def join(record: Any, other: Any) -> Any:
        if depth > 1 and isinstance(record, Mapping) and isinstance(other, Mapping):
            return merge_mappings(base if isinstance(base, Mapping) else None, record, other, depth - 1)
        if isinstance(record, list) and isinstance(other, list):
            return _merged_list(base if isinstance(base, list) else [], record, other)
        return more_complete(record, other)

    return three_way(base, ours, theirs, join)


def _merged_list(base: list[Any], ours: list[Any], theirs: list[Any]) -> list[Any]:
    """Merge lists of JSON values as sets."""
    forms = {canonical(value): value for value in (*base, *ours, *theirs)}
    names = merged_names([*map(canonical, base)], [*map(canonical, ours)], [*map(canonical, theirs)])
    return [forms[name] for name in names]


def interleave(
    ours: Sequence[_Item], theirs: Sequence[_Item], when: Callable[[_Item], str], name: Callable[[_Item], str]
) -> list[_Item]:
    """Merge two sequences by time, each in its own order.

    At equal times, the run whose first name sorts first comes first.
    """
    items, other, merged = list(ours), list(theirs), list[_Item]()
    while items and other:
        heads = (when(items[0]), name(items[0])), (when(other[0]), name(other[0]))
        source = items if heads[0] <= heads[1] else other
        time = when(source[0])
        while source and when(source[0]) == time:
            merged.append(source.pop(0))
    return [*merged, *items, *other]
