"""Merge two versions of one fact, field by field."""

from __future__ import annotations

import json
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

from clawmem.model.facts.fact import (
    ACTIVE,
    ALSO_FROM,
    ARCHIVED,
    RETRACTED,
    SUPERSEDED,
    Fact,
    FactLink,
    evidence_row,
    further_rows,
    trust_rank,
)
from clawmem.model.facts.stated_value import SinglePhrase
from clawmem.model.language.text import normal

REVIEW, NEWEST, OURS, THEIRS, FAIL = "review", "newest", "ours", "theirs", "fail"
POLICIES = (NEWEST, OURS, THEIRS, REVIEW, FAIL)

# The kinds of conflict: two successors of one fact, two wordings of one fact, two values of a relation that takes one,
# facts that replace each other, two versions of a text, two values of one setting, two versions of a file that cannot
# be merged, an event that one side took back and the other learned from.
SUCCESSORS, WORDING, VALUES, CIRCLE = "successors", "wording", "values", "circle"
TEXT, SETTING, FILE, EVENT = "text", "setting", "file", "event"
# One that a merge on another machine settled.
ELSEWHERE = "elsewhere"


class MergePolicy(NamedTuple):
    """How to settle conflicts.

    `newer` is the side (`ours` or `theirs`) with the later commit, for the policy `newest`. `single` are the relations
    that take one value at a time, and `phrases` are the words by which statements without a triple name them.
    """

    name: str = REVIEW
    newer: str = OURS
    single: frozenset[str] = frozenset()
    phrases: tuple[SinglePhrase, ...] = ()

    @property
    def side(self) -> str | None:
        """Return the side that always wins, or None if both versions are kept."""
        if self.name == NEWEST:
            return self.newer
        return self.name if self.name in (OURS, THEIRS) else None


class MergeConflict(NamedTuple):
    """One conflict: its kind, file, fact (if it is about one), and a sentence on how it was settled."""

    kind: str
    path: str
    fact: str | None
    says: str


SuccessorOrder = Callable[[str], tuple[str, str]]
"""Maps a fact id to its recording time and id: the order of successors."""

# The higher status wins a merge.
_STATUS = {ARCHIVED: 0, ACTIVE: 1, SUPERSEDED: 2, RETRACTED: 3}
_TRIPLE = ("subject", "predicate", "object", "relation_phrase")
_EVIDENCE = ("source_event", "source_text", "source_span")


class MergedFact(NamedTuple):
    """The merged fact, and the other wording if both sides changed it."""

    fact: Fact
    other: Fact | None = None


def merge_fact(base: Fact | None, ours: Fact, theirs: Fact, order: SuccessorOrder, side: str | None) -> MergedFact:
    """Merge two versions of a fact.

    If both sides changed the wording, `side` (`ours` or `theirs`) wins; without a side, the wording that sorts last
    wins. The losing wording is returned as `other`.
    """
    if ours == theirs or theirs == base:
        return MergedFact(ours)
    if ours == base:
        return MergedFact(theirs)
    fields = _plain(base, ours, theirs)
    fields.update(_counted(base, ours, theirs))
    fields.update(_lists(base, ours, theirs))
    fields.update(_life(base, ours, theirs, order))
    fields.update(_grouped(base, ours, theirs, fields))
    kept, other = _worded(base, ours, theirs, side)
    fields["fact"] = kept.fact
    if other is not None:
        fields.update({name: getattr(kept, name) for name in _TRIPLE})
    fact = ours._replace(**fields)
    return MergedFact(fact, _rival(base, other, fact) if other else None)


def _of(fact: Fact | None, name: str) -> Any:
    return MISSING if fact is None else getattr(fact, name)


def _worded(base: Fact | None, ours: Fact, theirs: Fact, side: str | None) -> tuple[Fact, Fact | None]:
    """Return the version whose wording wins, and the other one if both sides changed the wording."""
    before = _of(base, "fact")
    if ours.fact == theirs.fact or theirs.fact == before:
        return ours, None
    if ours.fact == before:
        return theirs, None
    last, first = (ours, theirs) if ours.fact > theirs.fact else (theirs, ours)
    if normal(ours.fact) == normal(theirs.fact):
        return last, None
    if side is None:
        return last, first
    return (ours, theirs) if side == OURS else (theirs, ours)


def _rival(base: Fact | None, other: Fact, kept: Fact) -> Fact:
    """Return the other wording as a fact of its own, without the data that the kept fact already has."""
    plain = (base or other)._replace(fact=other.fact, access_count=0, last_accessed=None, links=())
    words = {name: getattr(other, name) for name in _TRIPLE}
    return plain._replace(status=kept.status, superseded_by=kept.superseded_by, **words)


def _plain(base: Fact | None, ours: Fact, theirs: Fact) -> dict[str, Any]:
    rules: dict[str, Callable[[Any, Any], Any]] = dict.fromkeys(
        ("category", "timestamp", "source", "agent", "workflow", "scope", "project"), more_complete
    )
    rules.update(confidence=most, importance=most, valid_from=most, valid_to=_least)
    rules["trust"] = lambda candidate, other: min(candidate, other, key=lambda trust: (trust_rank(trust), trust or ""))
    return {
        name: three_way(_of(base, name), getattr(ours, name), getattr(theirs, name), rule)
        for name, rule in rules.items()
    }


def most(other_any: Any, other: Any) -> Any:
    """Return the greater of two values, None counting for nothing."""
    return max((value for value in (other_any, other) if value is not None), default=None)


def _least(other_any: Any, other: Any) -> Any:
    return min((value for value in (other_any, other) if value is not None), default=None)


def _counted(base: Fact | None, ours: Fact, theirs: Fact) -> dict[str, Any]:
    """Add up what each side counted; the time of the last access never goes back."""
    if base is None:
        count = max(ours.access_count, theirs.access_count)
    else:
        count = max(0, ours.access_count + theirs.access_count - base.access_count)
    return {"access_count": count, "last_accessed": most(ours.last_accessed, theirs.last_accessed)}


def _lists(base: Fact | None, ours: Fact, theirs: Fact) -> dict[str, Any]:
    known = base or ours._replace(tags=(), related_entities=(), links=(), details=None, metadata=None, extra={})
    rules: dict[str, Callable[[Any, Any, Any], Any]] = {
        **dict.fromkeys(("tags", "related_entities"), merged_names),
        "links": merge_links,
        **dict.fromkeys(("details", "metadata"), lambda *sides: merge_mappings(*sides) or None),
        "extra": merge_mappings,
    }
    return {name: rule(*(getattr(side, name) for side in (known, ours, theirs))) for name, rule in rules.items()}


def merge_links(
    base: tuple[FactLink, ...], ours: tuple[FactLink, ...], theirs: tuple[FactLink, ...]
) -> tuple[FactLink, ...]:
    """Return the links of both sides; of several links with one type and target, the earliest."""
    merged: dict[tuple[str, str], FactLink] = {}
    for link in merged_names(base, ours, theirs):
        known = merged.get((link.type, link.to))
        if known is None or _age(link) < _age(known):
            merged[link.type, link.to] = link
    return tuple(merged.values())


def _age(link: FactLink) -> tuple[str, str]:
    return link.at or "", link.reason or ""


def _life(base: Fact | None, ours: Fact, theirs: Fact, order: SuccessorOrder) -> dict[str, Any]:
    """Merge status and successor together; of two successors, the one recorded first is next in the chain."""

    def join(pair: tuple[Any, Any], other: tuple[Any, Any]) -> tuple[Any, Any]:
        if pair[0] != other[0]:
            return max(pair, other, key=lambda life: _STATUS[life[0]])
        return min(pair, other, key=lambda life: order(life[1]) if life[1] else ("", ""))

    known = (base.status, base.superseded_by) if base else MISSING
    status, successor = three_way(known, _lifetime(ours), _lifetime(theirs), join)
    return {"status": status, "superseded_by": successor}


def _lifetime(fact: Fact) -> tuple[Any, Any]:
    return fact.status, fact.superseded_by


def _grouped(base: Fact | None, ours: Fact, theirs: Fact, fields: dict[str, Any]) -> dict[str, Any]:
    """Merge values that only make sense together, and keep the validity interval from ending before it begins."""
    found: dict[str, Any] = {}
    for group in (_TRIPLE, _EVIDENCE):
        before, candidate, other = (
            tuple(getattr(side, name) for name in group) if side else MISSING for side in (base, ours, theirs)
        )
        found.update(zip(group, three_way(before, candidate, other, more_complete_group), strict=True))
    since, until = fields["valid_from"], fields["valid_to"]
    if since is not None and until is not None and until < since:
        found["valid_to"] = since
    also = _also_from(base, ours, theirs, found)
    if also:
        metadata = fields["metadata"] or {}
        found["metadata"] = {**metadata, ALSO_FROM: also}
    return found


def _also_from(base: Fact | None, ours: Fact, theirs: Fact, kept: dict[str, Any]) -> list[dict[str, Any]]:
    """Return evidence that one side found and the merged fact does not use, plus such evidence from before."""
    known = [further_row for side in (ours, theirs) for further_row in further_rows(side)]
    for side in (ours, theirs):
        event = side.source_event
        if event and event not in (_of(base, "source_event"), kept["source_event"]):
            known.append(evidence_row(side))
    unique = {
        str(record.get("source_event")): record
        for record in known
        if record.get("source_event") != kept["source_event"]
    }
    return [unique[event] for event in sorted(unique)]


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
    before = tuple(base)

    def join(items: tuple[_Item, ...], other: tuple[_Item, ...]) -> tuple[_Item, ...]:
        kept = [item for item in before if item in items and item in other]
        added = {item for item in (*items, *other) if item not in before}
        return (*kept, *sorted(added, key=canonical))

    return three_way(before, tuple(ours), tuple(theirs), join)


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
    """Merge two sequences by time, each in its own order; at equal times, by the first name of a run."""
    items, other, merged = list(ours), list(theirs), list[_Item]()
    while items and other:
        heads = (when(items[0]), name(items[0])), (when(other[0]), name(other[0]))
        source = items if heads[0] <= heads[1] else other
        time = when(source[0])
        while source and when(source[0]) == time:
            merged.append(source.pop(0))
    return [*merged, *items, *other]
