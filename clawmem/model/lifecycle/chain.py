"""Chains of supersession: pointers run forward without circles, and only the last fact of a chain may be current."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from clawmem.errors import NotFound
from clawmem.model.facts.fact import RETRACTED, SUPERSEDED, Fact, FactLink, is_forgotten
from clawmem.model.facts.validity import PENDING_SUCCESSION, ended_at, is_over
from clawmem.model.language.dates import day_of
from clawmem.model.language.text import normal
from clawmem.model.lifecycle.reinforce import joint_confidence

REPLACING_LINKS = ("supersedes", "merges")
CONDENSED = "condensed into one claim"
"""The reason of a `merges` link whose target was archived, not superseded: it is still true, and can be restored."""


class ChainProblem(NamedTuple):
    """A broken rule and the fact that shows it; `closable` if a fact is current although another one replaced it."""

    fact_id: str
    sentence: str
    closable: bool = False


def chain_of(fact_id: str, by_id: Mapping[str, Fact]) -> tuple[Fact, ...]:
    """Return every fact of the chain that this one is in, oldest first, each before its successors.

    Where several facts replaced one, as after a merge of two clones, each of these branches is there."""
    steps = {(old, new.id) for new in by_id.values() for old in replaced_facts(new) if old in by_id}
    steps |= {(old.id, old.superseded_by) for old in by_id.values() if old.superseded_by and old.superseded_by in by_id}
    near: dict[str, set[str]] = {}
    for old, new in steps:
        near.setdefault(old, set()).add(new)
        near.setdefault(new, set()).add(old)
    queue = dict.fromkeys([_known(fact_id, by_id).id])
    waiting = [fact_id]
    for current in waiting:
        waiting += [each for each in near.get(current, ()) if each not in queue]
        queue.update(dict.fromkeys(near.get(current, ())))
    return tuple(_oldest_first([by_id[each] for each in queue], steps))


def replaced_facts(fact: Fact) -> tuple[str, ...]:
    """Return the ids of the facts that a fact says it replaced."""
    return tuple(link.to for link in fact.links if link.type in REPLACING_LINKS and link.reason != CONDENSED)


def _oldest_first(facts: Iterable[Fact], steps: Iterable[tuple[str, str]]) -> Iterator[Fact]:
    """Yield facts by recording time, and what a fact replaced before it; a circle begins with its oldest."""
    left = {fact.id: fact for fact in sorted(facts, key=lambda fact: (fact.timestamp, fact.id))}
    before: dict[str, set[str]] = {fact_id: set() for fact_id in left}
    for old, new in steps:
        if old in left and old != new:
            before[new].add(old)
    while left:
        ready = next((each for each in left if not before[each] & left.keys()), next(iter(left)))
        yield left.pop(ready)


def _known(fact_id: str, by_id: Mapping[str, Fact]) -> Fact:
    if fact_id not in by_id:
        raise NotFound(f"There is no fact {fact_id}.", "List the facts with `clawmem list`.")
    return by_id[fact_id]


def chain_problems(facts: Iterable[Fact]) -> tuple[ChainProblem, ...]:
    """Return every broken rule of chains among all facts of a vault, in file order."""
    items = list(facts)
    by_id = {fact.id: fact for fact in items}
    found = [*_doubled(items)]
    for fact in items:
        found += _pointer_problems(fact, by_id)
        found += _link_problems(fact, by_id)
    return tuple(found + _circles(by_id))


def _doubled(facts: list[Fact]) -> Iterator[ChainProblem]:
    seen: set[str] = set()
    for fact in facts:
        if fact.id in seen:
            yield ChainProblem(fact.id, f"{fact.id} is the id of more than one fact.")
        seen.add(fact.id)


def _pointer_problems(fact: Fact, by_id: Mapping[str, Fact]) -> Iterator[ChainProblem]:
    target = fact.superseded_by
    if target is None:
        if fact.status == SUPERSEDED:
            yield ChainProblem(fact.id, f"{fact.id} is superseded, but has no successor.")
        return
    if fact.status != SUPERSEDED and not is_forgotten(fact):  # a rejected request makes it superseded again
        yield ChainProblem(fact.id, f"{fact.id} was superseded by {target}, but its status is {fact.status}.")
    if target not in by_id:
        yield ChainProblem(fact.id, f"{fact.id} was superseded by {target}, which does not exist.")


def _link_problems(fact: Fact, by_id: Mapping[str, Fact]) -> Iterator[ChainProblem]:
    for link in fact.links:
        target = by_id.get(link.to)
        if target is None:
            yield ChainProblem(fact.id, f"{fact.id} has a link '{link.type}' to {link.to}, which does not exist.")
        elif link.reason == CONDENSED:
            continue
        elif link.type in REPLACING_LINKS and fact.status != RETRACTED and target.is_current:
            yield ChainProblem(
                fact.id,
                f"{fact.id} has a link '{link.type}' to {link.to}, but {link.to} is still {target.status}.",
                True,
            )


def _circles(by_id: Mapping[str, Fact]) -> list[ChainProblem]:
    """Return one problem for each circle of pointers, at its smallest id."""
    found = []
    group: set[str] = set()
    for start in by_id:
        path: dict[str, int] = {}
        current = start
        while current in by_id and current not in group and current not in path:
            path[current] = len(path)
            current = by_id[current].superseded_by or ""
        if current in path:
            found.append(_circle(list(path)[path[current] :]))
        group.update(path)
    return found


def _circle(members: list[str]) -> ChainProblem:
    first = members.index(min(members))
    turned = members[first:] + members[:first]
    if len(turned) == 1:
        return ChainProblem(turned[0], f"{turned[0]} was superseded by itself.")
    shown = turned if len(turned) <= 6 else [*turned[:5], f"{len(turned) - 5} more"]
    return ChainProblem(turned[0], f"The supersessions run in a circle: {' -> '.join([*shown, turned[0]])}.")


# Succession: a new fact replaces older ones, with links and validity intervals on both sides.
#
# A fact that is announced for a future day replaces nothing before that day. Until then the old fact stays current,
# with its end set and a mark that names its successor.


class Succession(NamedTuple):
    """The new fact with its links, and each older one: superseded, or current until the new one begins."""

    new: Fact
    closed: tuple[Fact, ...]


def succeed(new: Fact, olds: Iterable[Fact], link: str, reason: str | None, at: str, since: str) -> Succession:
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
            # What is only worded anew was true: it ends now where it began after what its new words say.
            ends = min(begins, at) if link == "supersedes" else at if begins <= (old.valid_from or "") else begins
            changed.append(superseded(old, new.id, ends))
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


def correct(new: Fact, olds: Iterable[Fact], reason: str | None, at: str) -> Succession:
    """Let `new` replace `olds`, which were never true: their interval becomes empty.

    `new` is valid from the day it names, or without a start.
    """
    olds = tuple(olds)
    added = tuple(FactLink(kind, old.id, reason, at) for old in olds for kind in ("supersedes", "contradicts"))
    gone = tuple(never_true(old, new.id, at) for old in olds)
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


def never_true(old: Fact, successor: str, at: str) -> Fact:
    """Return a fact that another one corrects: its interval is empty."""
    day = old.valid_from or day_of(at)
    return old._replace(status=SUPERSEDED, superseded_by=successor, valid_from=day, valid_to=day)
