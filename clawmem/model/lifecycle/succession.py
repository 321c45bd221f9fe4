"""Succession: a new fact takes the place of older ones; links and the intervals of validity say so on both sides.

What is announced for a day to come takes no place before that day: what holds until then stays, with the day it ends
and a mark that names what comes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from clawmem.model.facts.fact import SUPERSEDED, Fact, FactLink
from clawmem.model.facts.validity import ended_at
from clawmem.model.language.dates import day_of
from clawmem.model.language.text import normal

YIELDS = "yields_to"


class Succession(NamedTuple):
    """The new fact with its links, and each older one: closed and pointing to it, or standing until it begins."""

    new: Fact
    closed: tuple[Fact, ...]


def succeed(new: Fact, olds: Iterable[Fact], link: str, reason: str, at: str, since: str) -> Succession:
    """Let `new` follow `olds`: it is true from `since` where it names no day of its own, and they end there.

    `link` is the type of link it gets to each of them; `at` is the time of writing, for the links. Where `new` only
    begins later than that and `supersedes`, what holds before stands until then.
    """
    begins = new.valid_from or since
    found = tuple(olds)
    waiting = {old.id for old in found if link == "supersedes" and waits(old, new, begins, at)}
    changed = []
    for old in found:
        if old.id not in waiting:
            changed.append(closed(old, new.id, min(begins, at) if link == "supersedes" else begins))
        elif (announced(old) or ("",))[0] not in waiting:
            changed.append(yielding(old, new.id, begins, reason))
    added = tuple(FactLink(link, old.id, reason, at) for old in changed if old.superseded_by == new.id)
    return Succession(new._replace(valid_from=begins, links=(*new.links, *added)), tuple(changed))


def waits(old: Fact, new: Fact, begins: str, at: str) -> bool:
    """Whether an older fact stands until a new one begins, because that is later than now (`at`): not where it is over,
    or would begin no earlier, or is the very thing that is put off."""
    if begins <= at or (old.valid_to is not None and old.valid_to <= at):
        return False
    begun = old.valid_from or ""
    put_off = begun > at and old.object is not None and normal(old.object) == normal(new.object or "")
    return begun < begins and not put_off


def yielding(old: Fact, successor: str, begins: str, reason: str | None) -> Fact:
    """A fact that stands until what is announced begins; the reason is kept for that day."""
    before = reopened(old)
    mark = {"to": successor, "before": before.valid_to, **({"reason": reason} if reason else {})}
    return before._replace(valid_to=ended_at(before, begins), metadata={**(before.metadata or {}), YIELDS: mark})


def closed(old: Fact, successor: str, since: str) -> Fact:
    """A fact in whose place another one stands from a moment on."""
    was = reopened(old)
    return was._replace(status=SUPERSEDED, superseded_by=successor, valid_to=ended_at(was, since))


def reopened(fact: Fact) -> Fact:
    """The fact as it was before something was announced to take its place."""
    mark = (fact.metadata or {}).get(YIELDS)
    if not isinstance(mark, dict):
        return fact
    rest = {key: value for key, value in (fact.metadata or {}).items() if key != YIELDS}
    return fact._replace(valid_to=mark.get("before"), metadata=rest or None)


def announced(fact: Fact) -> tuple[str, str] | None:
    """The id of what is, or was, announced to take the fact's place, and why; None where nothing is."""
    mark = (fact.metadata or {}).get(YIELDS)
    if not isinstance(mark, dict) or not isinstance(mark.get("to"), str):
        return None
    return mark["to"], str(mark.get("reason") or "It was announced, and its day has come.")


def correct(new: Fact, olds: Iterable[Fact], reason: str, at: str) -> Succession:
    """Let `new` follow `olds`, which were never true: their interval is empty, and `new` is true since ever or since
    the day it names itself."""
    olds = tuple(olds)
    added = tuple(FactLink(kind, old.id, reason, at) for old in olds for kind in ("supersedes", "contradicts"))
    gone = tuple(_never_true(old, new.id, at) for old in olds)
    return Succession(new._replace(links=(*new.links, *added)), gone)


def object_said(statement: str, old: Fact) -> str | None:
    """What a newer statement says where the older one says its object; None where they differ in more than that."""
    told, newer = old.fact.rstrip(" ."), statement.rstrip(" .")
    if not old.object or told.count(old.object) != 1:
        return None
    before, _, after = told.partition(old.object)
    said = newer[len(before) : len(newer) - len(after)]
    like = newer == before + said + after and said == said.strip()
    return said if like and 0 < len(said.split()) <= len(old.object.split()) + 1 else None


def _never_true(old: Fact, successor: str, at: str) -> Fact:
    day = old.valid_from or day_of(at)
    return old._replace(status=SUPERSEDED, superseded_by=successor, valid_from=day, valid_to=day)
