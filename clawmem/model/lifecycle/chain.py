"""Chains of supersession: pointers run forward without circles, and only the last fact of a chain may be current."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from clawmem.errors import NotFound
from clawmem.model.facts.fact import RETRACTED, SUPERSEDED, Fact

REPLACING_LINKS = ("supersedes", "merges")
CONDENSED = "condensed into one claim"
"""The reason of a `merges` link whose target was archived, not superseded: it is still true, and can be restored."""


class ChainProblem(NamedTuple):
    """A broken rule and the fact that shows it; `closable` if a fact is current although another one replaced it."""

    fact_id: str
    sentence: str
    closable: bool = False


def end_of_chain(fact_id: str, by_id: Mapping[str, Fact]) -> Fact:
    """Return the end of the chain, which may be this fact; in a circle, the last fact before it closes."""
    last = _known(fact_id, by_id)
    seen = {last.id}
    while last.superseded_by and last.superseded_by in by_id and last.superseded_by not in seen:
        last = by_id[last.superseded_by]
        seen.add(last.id)
    return last


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
    """Yield facts by recording time, but never a successor before what it replaced, even if clocks were wrong. A circle
    begins with its oldest fact."""
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
    if fact.status != SUPERSEDED:
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
