"""Succession: a new fact replaces older ones, with links and validity intervals on both sides.

A fact that is announced for a future day replaces nothing before that day. Until then the old fact stays current, with
its end set and a mark that names its successor.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from clawmem.model.facts.fact import SUPERSEDED, Fact, FactLink
from clawmem.model.facts.validity import PENDING_SUCCESSION, ended_at, is_over
from clawmem.model.language.dates import day_of
from clawmem.model.language.text import normal
from clawmem.model.lifecycle.reinforce import joint_confidence


class Succession(NamedTuple):
    """The new fact with its links, and each older one: superseded, or current until the new one begins."""

    new: Fact
    closed: tuple[Fact, ...]


def succeed(new: Fact, olds: Iterable[Fact], link: str, reason: str, at: str, since: str) -> Succession:
    """Let `new` follow `olds`. It is valid from `since` unless it names its own day, and the old ones end there.

    `link` is the type of its links to them, and `at` is the time of writing. If `link` is `supersedes` and `new` begins
    after `at`, the old facts stay current until then.
    """
    begins = new.valid_from or since
    found = tuple(olds)
    waiting = {old.id for old in found if link == "supersedes" and stays_current(old, new, begins, at)}
    changed = []
    for old in found:
        if old.id not in waiting:
            changed.append(superseded(old, new.id, min(begins, at) if link == "supersedes" else begins))
        elif (announced_successor(old) or ("",))[0] not in waiting:
            changed.append(ending_later(old, new.id, begins, reason))
    added = tuple(FactLink(link, old.id, reason, at) for old in changed if old.superseded_by == new.id)
    if link == "merges":
        new = new._replace(confidence=joint_confidence(new.confidence, *(old.confidence for old in found)))
    return Succession(new._replace(valid_from=begins, links=(*new.links, *added)), tuple(changed))


def stays_current(old: Fact, new: Fact, begins: str, at: str) -> bool:
    """Return whether an old fact stays current until a new one begins, because that is later than `at` (now).

    It does not if it is over, begins no earlier than the new one, or is the same event moved to a later day.
    """
    if begins <= at or is_over(old, at):
        return False
    begun = old.valid_from or ""
    put_off = begun > at and old.object is not None and normal(old.object) == normal(new.object or "")
    return begun < begins and not put_off


def ending_later(old: Fact, successor: str, begins: str, reason: str | None) -> Fact:
    """Return a fact that stays current until its announced successor begins; the reason is stored for that day."""
    before = reopened(old)
    mark = {"to": successor, "before": before.valid_to, **({"reason": reason} if reason else {})}
    return before._replace(
        valid_to=ended_at(before, begins), metadata={**(before.metadata or {}), PENDING_SUCCESSION: mark}
    )


def superseded(old: Fact, successor: str, since: str) -> Fact:
    """Return a fact that another one supersedes from a moment on."""
    was = reopened(old)
    return was._replace(status=SUPERSEDED, superseded_by=successor, valid_to=ended_at(was, since))


def reopened(fact: Fact) -> Fact:
    """Return the fact as it was before a successor was announced."""
    mark = (fact.metadata or {}).get(PENDING_SUCCESSION)
    if not isinstance(mark, dict):
        return fact
    rest = {key: value for key, value in (fact.metadata or {}).items() if key != PENDING_SUCCESSION}
    return fact._replace(valid_to=mark.get("before"), metadata=rest or None)


def announced_successor(fact: Fact) -> tuple[str, str] | None:
    """Return the id of the fact's announced successor and the reason, or None."""
    mark = (fact.metadata or {}).get(PENDING_SUCCESSION)
    if not isinstance(mark, dict) or not isinstance(mark.get("to"), str):
        return None
    return mark["to"], str(mark.get("reason") or "It was announced, and its day has come.")


def correct(new: Fact, olds: Iterable[Fact], reason: str, at: str) -> Succession:
    """Let `new` replace `olds`, which were never true: their interval becomes empty.

    `new` is valid from the day it names, or without a start.
    """
    olds = tuple(olds)
    added = tuple(FactLink(kind, old.id, reason, at) for old in olds for kind in ("supersedes", "contradicts"))
    gone = tuple(_never_true(old, new.id, at) for old in olds)
    return Succession(new._replace(links=(*new.links, *added)), gone)


def replaced_object(statement: str, old: Fact) -> str | None:
    """Return what a new statement has in place of the old fact's object, or None if they differ in more than that."""
    before_text, newer = old.fact.rstrip(" ."), statement.rstrip(" .")
    if not old.object or before_text.count(old.object) != 1:
        return None
    before, _, after = before_text.partition(old.object)
    value = newer[len(before) : len(newer) - len(after)]
    like = newer == before + value + after and value == value.strip()
    return value if like and 0 < len(value.split()) <= len(old.object.split()) + 1 else None


def _never_true(old: Fact, successor: str, at: str) -> Fact:
    day = old.valid_from or day_of(at)
    return old._replace(status=SUPERSEDED, superseded_by=successor, valid_from=day, valid_to=day)
