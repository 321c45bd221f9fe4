"""Plan a revocation: retract everything from one origin, and restore what it had replaced.

A retracted fact no longer replaces anything. So a fact whose successor is retracted gets the next successor in the
chain. If there is no other successor, the fact becomes current again, as it was before it was replaced.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from clawmem.model.facts.fact import (
    ACTIVE,
    ARCHIVED,
    RETRACTED,
    REVOKED,
    SUPERSEDED,
    Fact,
    FactLink,
    is_given_by_person,
)
from clawmem.model.facts.validity import ended_at
from clawmem.model.history.comparison import bare, points_at
from clawmem.model.kinds import NOTE, PAGE, SUMMARY, handling
from clawmem.model.lifecycle.chain import CONDENSED
from clawmem.model.pages.summary import generated_part, with_generated

_BUILT_ON = ("derived_from", "supports", "depends_on", "merges")


class DependentFact(NamedTuple):
    """A fact that stays but refers to a retracted one: how, and to which."""

    fact: Fact
    relation: str
    of: str


class Revocation(NamedTuple):
    """The facts to retract, to restore, to link to another successor (with that successor), and the dependents.

    `dependents` are facts that stay but were built on a retracted one.
    """

    retracted: tuple[Fact, ...]
    restored: tuple[Fact, ...]
    relinked: tuple[Fact, ...]
    dependents: tuple[DependentFact, ...]


def derived_from_revoked(by_id: Mapping[str, Fact], revoked: Collection[str]) -> set[str]:
    """Return the facts that hold what revoked facts say: those that merged them, and those that a program or an agent
    derived from them. What a person derived stays, in doubt."""
    holding: dict[str, list[str]] = {}
    for fact in by_id.values():
        for link in fact.links:
            derived = link.type == "derived_from" and not is_given_by_person(fact)
            if fact.status != RETRACTED and (derived or link.type == "merges"):
                holding.setdefault(link.to, []).append(fact.id)
    found, level = set[str](), set(revoked)
    while level:
        level = {text for target in level for text in holding.get(target, ())} - found - set(revoked)
        found |= level
    return found


def replaced_by_revoked(by_id: Mapping[str, Fact], revoked: Collection[str]) -> tuple[Fact, ...]:
    """Return the facts that stay and whose successor is revoked."""
    return tuple(fact for fact in by_id.values() if fact.id not in revoked and fact.superseded_by in revoked)


def plan_revocation(
    by_id: Mapping[str, Fact], revoked: Collection[str], before: Mapping[str, Fact], at: str, why: str
) -> Revocation:
    """Plan the revocation of some facts.

    `before` holds earlier states of replaced facts, where the history has them. `at` is the time of writing (ISO 8601
    UTC), and `why` is the reason stored with each retracted fact.
    """
    remark: dict[str, Any] = {"at": at, "reason": why, REVOKED: True}
    gone = tuple(
        _retracted(by_id[text], remark) for text in by_id if text in revoked and by_id[text].status != RETRACTED
    )
    changed: dict[str, Fact] = {}
    successors: dict[str, str] = {}
    current: list[str] = []
    for fact in replaced_by_revoked(by_id, revoked):
        was = before.get(fact.id) or _as_it_was(fact, by_id)
        successor = _successor(fact, by_id, revoked)
        changed[fact.id] = _counted(_closed(was, successor) if successor else was, fact)
        if successor:
            successors[fact.id] = successor.id
        else:
            current.append(fact.id)
    for other_fact in _condensed_into(by_id, revoked):
        changed[other_fact.id] = other_fact._replace(status=ACTIVE)
        current.append(other_fact.id)
    # A restored fact may also be the new successor of an earlier one.
    for gone_before, heir_id in successors.items():
        link = FactLink("supersedes", gone_before, why, at)
        changed[heir_id] = _linked(changed.get(heir_id, by_id[heir_id]), link)
    restored = tuple(changed[text] for text in current)
    relinked = tuple(fact for text, fact in changed.items() if text not in current)
    return Revocation(gone, restored, relinked, _dependents(by_id, revoked))


def _condensed_into(by_id: Mapping[str, Fact], revoked: Collection[str]) -> list[Fact]:
    """Return the archived facts that only revoked facts had condensed. They are the current ones again."""
    into: dict[str, set[str]] = {}
    for fact in by_id.values():
        for link in fact.links:
            if link.reason == CONDENSED and fact.status != RETRACTED:
                into.setdefault(link.to, set()).add(fact.id)
    return [
        by_id[text] for text, claims in into.items()
        if text in by_id and by_id[text].status == ARCHIVED and text not in revoked and claims <= set(revoked)
    ]  # fmt: skip


def _closed(fact: Fact, successor: Fact) -> Fact:
    end = ended_at(fact, successor.valid_from) if successor.valid_from else fact.valid_to
    return fact._replace(status=SUPERSEDED, superseded_by=successor.id, valid_to=end)


def _retracted(fact: Fact, remark: Mapping[str, Any]) -> Fact:
    metadata = {**(fact.metadata or {}), "retracted": dict(remark)}
    return fact._replace(status=RETRACTED, superseded_by=None, metadata=metadata)


def _successor(fact: Fact, by_id: Mapping[str, Fact], revoked: Collection[str]) -> Fact | None:
    """Return the next fact of the chain that is not revoked, or None."""
    seen: set[str] = set()
    following = fact.superseded_by
    while following and following in revoked and following in by_id and following not in seen:
        seen.add(following)
        following = by_id[following].superseded_by
    found = by_id.get(following or "")
    return found if found and found.id not in revoked and found.id != fact.id else None


def _as_it_was(fact: Fact, by_id: Mapping[str, Fact]) -> Fact:
    """Return the fact before it was replaced, without history: an end that the successor had set is removed."""
    successor = by_id.get(fact.superseded_by or "")
    set_then = successor is not None and fact.valid_to in (successor.valid_from, fact.valid_from)
    return fact._replace(status=ACTIVE, superseded_by=None, valid_to=None if set_then else fact.valid_to)


def _counted(was: Fact, now: Fact) -> Fact:
    return was._replace(access_count=now.access_count, last_accessed=now.last_accessed)


def _linked(fact: Fact, added: FactLink) -> Fact:
    known = any(link.type == added.type and link.to == added.to for link in fact.links)
    return fact if known else fact._replace(links=(*fact.links, added))


def _dependents(by_id: Mapping[str, Fact], revoked: Collection[str]) -> tuple[DependentFact, ...]:
    found = []
    for fact in by_id.values():
        if fact.id in revoked or not fact.is_current:
            continue
        linked = {link.to: link.type for link in fact.links if link.to in revoked}
        for target in sorted(points_at(fact) & set(revoked)):
            kind = linked.get(target, "details")
            relation = kind if kind in (*_BUILT_ON, "supersedes", "details") else ""
            found += [DependentFact(fact, relation, target)] if relation else []
    return tuple(found)


# Undo one operation: what each file must become, as if the operation had not happened.
#
# Three states are compared record by record: before the operation, after it, and now. A record that is as the operation
# left it goes back. One that was changed since blocks the undo. One that is as before needs nothing.

Record = TypeVar("Record")


class RestoredRecords(NamedTuple, Generic[Record]):
    """The records that a file must hold, in order; the ids that were restored, removed, already as before, and blocked
    because they were changed since."""

    records: Mapping[str, Record]
    restored: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    already: tuple[str, ...] = ()
    blocked: tuple[str, ...] = ()


def facts_back(
    before: Sequence[Fact], after: Sequence[Fact], now: Sequence[Fact], only: Collection[str]
) -> RestoredRecords[Fact]:
    """The facts that a file must hold. Only those in `only` go back; all keep the accesses counted since."""
    current = _by_id(now)
    back = records_back(_by_id(before), _by_id(after), current, only, lambda fact, other: bare(fact) == bare(other))
    return back._replace(records={key: _counted_again(fact, current.get(key)) for key, fact in back.records.items()})


def _by_id(facts: Sequence[Fact]) -> dict[str, Fact]:
    return {fact.id: fact for fact in facts}


def lines_back(
    before: Mapping[str, bytes], after: Mapping[str, bytes], now: Mapping[str, bytes]
) -> RestoredRecords[bytes]:
    """The lines that a ledger must hold, by event id."""
    return records_back(before, after, now, before.keys() | after.keys(), lambda data, other: data == other)


def records_back(
    before: Mapping[str, Record],
    after: Mapping[str, Record],
    now: Mapping[str, Record],
    only: Collection[str],
    same: Callable[[Record, Record], bool],
) -> RestoredRecords[Record]:
    """The records that a file must hold for the operation between `before` and `after` to be undone."""

    def alike(record: Record | None, other: Record | None) -> bool:
        return record is other if record is None or other is None else same(record, other)

    touched = [
        key for key in dict.fromkeys((*before, *after)) if key in only and not alike(before.get(key), after.get(key))
    ]
    already = tuple(key for key in touched if alike(now.get(key), before.get(key)))
    blocked = tuple(key for key in touched if key not in already and not alike(now.get(key), after.get(key)))
    going = [key for key in touched if key not in already and key not in blocked]
    removed = tuple(key for key in going if key not in before)
    restored = tuple(key for key in going if key in before)
    records = {key: record for key, record in now.items() if key not in removed}
    for key in restored:
        records = _put(records, key, before)
    return RestoredRecords(records, restored, removed, already, blocked)


def _put(records: Mapping[str, Record], key: str, before: Mapping[str, Record]) -> dict[str, Record]:
    """The records with one as it was, in its place or after the nearest record that was before it."""
    if key in records:
        return {**records, key: before[key]}
    order = list(before)
    earlier = [each for each in order[: order.index(key)] if each in records]
    placed: dict[str, Record] = {} if earlier else {key: before[key]}
    for each, record in records.items():
        placed[each] = record
        if earlier and each == earlier[-1]:
            placed[key] = before[key]
    return placed


def _counted_again(fact: Fact, now: Fact | None) -> Fact:
    if now is None:
        return fact
    return fact._replace(access_count=now.access_count, last_accessed=now.last_accessed)


def changed_facts(before: Sequence[Fact], after: Sequence[Fact]) -> dict[str, tuple[Fact | None, Fact | None]]:
    """The facts that differ between two states of a file, each with both states. Accesses do not count."""
    old, new = _by_id(before), _by_id(after)
    pairs = {key: (old.get(key), new.get(key)) for key in dict.fromkeys((*old, *new))}
    return {key: pair for key, pair in pairs.items() if _bare(pair[0]) != _bare(pair[1])}


def _bare(fact: Fact | None) -> Fact | None:
    return bare(fact) if fact else None


def connected(start: str, changed: Mapping[str, Sequence[Fact | None]]) -> frozenset[str]:
    """The changed facts connected with one: those it points at, those that point at it, and so on."""
    near: dict[str, set[str]] = {key: set() for key in changed}
    for key, states in changed.items():
        for state in states:
            for target in points_at(state) & near.keys() if state else ():
                near[key].add(target)
                near[target].add(key)
    group = [start]
    for key in group:
        group += sorted(near.get(key, set()) - set(group))
    return frozenset(group)


class RestoredFile(NamedTuple):
    """The verdict on a whole file: `same` where nothing is to do, `back` with its content (None: delete), `blocked`."""

    verdict: str
    content: bytes | None = None


def file_back(path: str, before: bytes | None, after: bytes | None, now: bytes | None) -> RestoredFile:
    """Undo the change of a file without records as a whole. The generated part of a page does not count."""
    if _written(path, before) == _written(path, after) or _written(path, now) == _written(path, before):
        return RestoredFile("same")
    if _written(path, now) == _written(path, after):
        return RestoredFile("back", _with_part_of(path, before, now))
    without = _without_added(before, after, now) if handling(path).undo == NOTE else None
    return RestoredFile("blocked") if without is None else RestoredFile("back", without)


def _without_added(before: bytes | None, after: bytes | None, now: bytes | None) -> bytes | None:
    """A note without the lines that the operation added, or None where they cannot be identified."""
    if after is None or now is None:
        return None
    new, lines = after.split(b"\n"), now.split(b"\n")
    # The day's first note also made the page, whose title the later ones still need.
    old = before.split(b"\n") if before is not None else [*new[:2], b""]
    start = next((n for n, (data, other) in enumerate(zip(old, new, strict=False)) if data != other), len(old))
    added = new[start : start + len(new) - len(old)]
    if not added or new[start + len(added) :] != old[start:]:
        return None
    places = [n for n in range(len(lines)) if lines[n : n + len(added)] == added]
    return b"\n".join(lines[: places[0]] + lines[places[0] + len(added) :]) if len(places) == 1 else None


def _written(path: str, data: bytes | None) -> str | bytes | None:
    """What people wrote in a file: all of it except the generated part of a page."""
    text = _page(path, data)
    return data if text is None else with_generated(text, "")


def _with_part_of(path: str, before: bytes | None, now: bytes | None) -> bytes | None:
    old, current = _page(path, before), _page(path, now)
    part = generated_part(current) if current else None
    return before if old is None or part is None else with_generated(old, part).encode()


def _page(path: str, data: bytes | None) -> str | None:
    """The text of a page that may have a generated part."""
    if data is None or handling(path).undo not in (PAGE, NOTE, SUMMARY):
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None
