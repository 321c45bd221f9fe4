"""Plan a revocation: retract everything from one origin, and restore what it had replaced.

A retracted fact no longer replaces anything. So a fact whose successor is retracted gets the next successor in the
chain. If there is no other successor, the fact becomes current again, as it was before it was replaced.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

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
from clawmem.model.history.comparison import points_at
from clawmem.model.lifecycle.chain import CONDENSED

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
