"""Repair chains after a merge: no circles, and no current fact that another fact replaced."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from clawmem.model.facts.fact import ACTIVE, RETRACTED, SUPERSEDED, Fact
from clawmem.model.facts.validity import ended_at
from clawmem.model.lifecycle.chain import CONDENSED, REPLACING_LINKS, end_of_chain
from clawmem.model.merging.facts.table import FiledFact
from clawmem.model.merging.policy import CIRCLE, MergeConflict

Facts = dict[str, FiledFact]


def break_circles(facts: Facts, base: Mapping[str, FiledFact]) -> Iterator[MergeConflict]:
    """Break each circle of successors at its oldest decision, so that the later correction wins."""
    for members in list(_circles(facts)):
        oldest = min(members, key=lambda member: _decided(facts, member))
        path, fact = facts[oldest].path, facts[oldest].fact
        by = fact.superseded_by or ""
        before = base[oldest].fact.valid_to if oldest in base and base[oldest].fact.is_current else None
        replace_fact(facts, fact._replace(status=ACTIVE, superseded_by=None, valid_to=before))
        _contradict(facts, by, oldest)
        text = (
            f"{' and '.join(sorted(members))} replaced each other; the later decision wins and {oldest} is active again"
        )
        yield MergeConflict(CIRCLE, path, oldest, text)


def _circles(facts: Mapping[str, FiledFact]) -> Iterator[list[str]]:
    group: set[str] = set()
    for start in facts:
        path: dict[str, None] = {}
        current = start
        while current in facts and current not in group and current not in path:
            path[current] = None
            current = facts[current].fact.superseded_by or ""
        if current in path:
            members = list(path)
            yield members[members.index(current) :]
        group.update(path)


def _decided(facts: Mapping[str, FiledFact], fact_id: str) -> tuple[str, str]:
    """Return when a fact was replaced, according to its successor."""
    successor = facts[facts[fact_id].fact.superseded_by or ""].fact
    times = [link.at for link in successor.links if link.to == fact_id and link.type in REPLACING_LINKS and link.at]
    return max(times, default=successor.timestamp), fact_id


def _contradict(facts: Facts, fact_id: str, target: str) -> None:
    """Turn a fact's claim to replace another one into a contradiction."""
    fact = facts[fact_id].fact
    links = [
        link._replace(type="contradicts") if link.to == target and link.type in REPLACING_LINKS else link
        for link in fact.links
    ]
    replace_fact(facts, fact._replace(links=tuple(links)))


def close_replaced(facts: Facts, sides: Iterable[Mapping[str, FiledFact]]) -> None:
    """Close current facts that another fact replaced.

    This happens where one side undid a correction and the other side built on it. A state that one of the `sides`
    already had before the merge is left alone.
    """
    known = list(sides)
    for fact_id in sorted(facts):
        for link in facts[fact_id].fact.links:
            if (
                link.reason != CONDENSED
                and _wrongly_standing(facts, fact_id, link.type, link.to)
                and not any(_wrongly_standing(side, fact_id, link.type, link.to) for side in known)
            ):
                _close(facts, link.to, fact_id)


def _wrongly_standing(facts: Mapping[str, FiledFact], fact_id: str, kind: str, target: str) -> bool:
    if kind not in REPLACING_LINKS or fact_id not in facts or target not in facts:
        return False
    return facts[fact_id].fact.status != RETRACTED and facts[target].fact.is_current


def _close(facts: Facts, old_id: str, new_id: str) -> None:
    if end_of_chain(new_id, _FactTable(facts)).id == old_id:
        _contradict(facts, new_id, old_id)
        return
    old, new = facts[old_id].fact, facts[new_id].fact
    replace_fact(facts, superseded(old, new))


def superseded(old: Fact, new: Fact) -> Fact:
    """Return the old fact as superseded by the new one."""
    until = ended_at(old, new.valid_from or new.timestamp)
    return old._replace(status=SUPERSEDED, superseded_by=new.id, valid_to=until)


def replace_fact(facts: Facts, fact: Fact) -> None:
    """Replace a fact by its new state."""
    facts[fact.id] = facts[fact.id]._replace(fact=fact)


def known_end_of_chain(facts: Mapping[str, FiledFact], fact_id: str) -> Fact | None:
    """Return the fact at the end of a chain, or None if the id is unknown."""
    return end_of_chain(fact_id, _FactTable(facts)) if fact_id in facts else None


class _FactTable(Mapping[str, Fact]):
    """Facts by id, without their files."""

    def __init__(self, facts: Mapping[str, FiledFact]) -> None:
        self._facts = facts

    def __getitem__(self, fact_id: str) -> Fact:
        return self._facts[fact_id].fact

    def __iter__(self) -> Iterator[str]:
        return iter(self._facts)

    def __len__(self) -> int:
        return len(self._facts)

    def __contains__(self, fact_id: object) -> bool:
        return fact_id in self._facts
