"""Succession: a new fact takes the place of older ones; links and the intervals of validity say so on both sides."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from clawmem.model.dates import day_of
from clawmem.model.fact import SUPERSEDED, Fact, Link
from clawmem.model.validity import ended_at


class Succession(NamedTuple):
    """The new fact with its links, and each older one closed and pointing to it."""

    new: Fact
    closed: tuple[Fact, ...]


def succeed(new: Fact, olds: Iterable[Fact], link: str, reason: str, at: str, since: str) -> Succession:
    """Let `new` follow `olds`: it is true from `since` where it names no day of its own, and they end there.

    `link` is the type of link it gets to each of them; `at` is the time of writing, for the links.
    """
    olds = tuple(olds)
    begins = new.valid_from or since
    added = tuple(Link(link, old.id, reason, at) for old in olds)
    closed = tuple(
        old._replace(status=SUPERSEDED, superseded_by=new.id, valid_to=ended_at(old, begins)) for old in olds
    )
    return Succession(new._replace(valid_from=begins, links=(*new.links, *added)), closed)


def correct(new: Fact, olds: Iterable[Fact], reason: str, at: str) -> Succession:
    """Let `new` follow `olds`, which were never true: their interval is empty, and `new` is true since ever or since
    the day it names itself."""
    olds = tuple(olds)
    added = tuple(Link(kind, old.id, reason, at) for old in olds for kind in ("supersedes", "contradicts"))
    closed = tuple(_never_true(old, new.id, at) for old in olds)
    return Succession(new._replace(links=(*new.links, *added)), closed)


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
