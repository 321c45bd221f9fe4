"""Chains after a merge: pointers that run forward, no circle, and nothing that stands though it was replaced."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from clawmem.model.facts.fact import ACTIVE, RETRACTED, SUPERSEDED, Fact
from clawmem.model.facts.validity import ended_at
from clawmem.model.lifecycle.chain import REPLACING, last_of
from clawmem.model.merging.facts.table import FiledFact
from clawmem.model.merging.policy import CIRCLE, MergeConflict

Facts = dict[str, FiledFact]


def without_circles(facts: Facts, base: Mapping[str, FiledFact]) -> Iterator[MergeConflict]:
    """Open each circle of successors where the oldest decision closed it: the later correction wins."""
    for members in list(_circles(facts)):
        oldest = min(members, key=lambda one: _decided(facts, one))
        path, fact = facts[oldest].path, facts[oldest].fact
        by = fact.superseded_by or ""
        before = base[oldest].fact.valid_to if oldest in base and base[oldest].fact.stands else None
        put(facts, fact._replace(status=ACTIVE, superseded_by=None, valid_to=before))
        _contradict(facts, by, oldest)
        says = f"{' and '.join(sorted(members))} replaced each other; the later decision stands, and so does {oldest}"
        yield MergeConflict(CIRCLE, path, oldest, says)


def _circles(facts: Mapping[str, FiledFact]) -> Iterator[list[str]]:
    done: set[str] = set()
    for start in facts:
        path: dict[str, None] = {}
        current = start
        while current in facts and current not in done and current not in path:
            path[current] = None
            current = facts[current].fact.superseded_by or ""
        if current in path:
            members = list(path)
            yield members[members.index(current) :]
        done.update(path)


def _decided(facts: Mapping[str, FiledFact], fact_id: str) -> tuple[str, str]:
    """When a fact was replaced, as its successor tells."""
    successor = facts[facts[fact_id].fact.superseded_by or ""].fact
    times = [link.at for link in successor.links if link.to == fact_id and link.type in REPLACING and link.at]
    return max(times, default=successor.timestamp), fact_id


def _contradict(facts: Facts, fact_id: str, target: str) -> None:
    """Let a fact no longer claim to replace one that stands."""
    fact = facts[fact_id].fact
    links = [
        link._replace(type="contradicts") if link.to == target and link.type in REPLACING else link
        for link in fact.links
    ]
    put(facts, fact._replace(links=tuple(links)))


def close_replaced(facts: Facts, sides: Iterable[Mapping[str, FiledFact]]) -> None:
    """Close what stands though another fact replaced it, as where one side took a correction back and the other built
    on it. What was so on one side already is not touched."""
    known = list(sides)
    for fact_id in sorted(facts):
        for link in facts[fact_id].fact.links:
            if _wrongly_standing(facts, fact_id, link.type, link.to) and not any(
                _wrongly_standing(side, fact_id, link.type, link.to) for side in known
            ):
                _close(facts, link.to, fact_id)


def _wrongly_standing(facts: Mapping[str, FiledFact], fact_id: str, kind: str, target: str) -> bool:
    if kind not in REPLACING or fact_id not in facts or target not in facts:
        return False
    return facts[fact_id].fact.status != RETRACTED and facts[target].fact.stands


def _close(facts: Facts, old_id: str, new_id: str) -> None:
    if last_of(new_id, _FactTable(facts)).id == old_id:
        _contradict(facts, new_id, old_id)
        return
    old, new = facts[old_id].fact, facts[new_id].fact
    put(facts, closed(old, new))


def closed(old: Fact, new: Fact) -> Fact:
    """The old fact after the new one took its place."""
    until = ended_at(old, new.valid_from or new.timestamp)
    return old._replace(status=SUPERSEDED, superseded_by=new.id, valid_to=until)


def put(facts: Facts, fact: Fact) -> None:
    """Replace a fact by its new state."""
    facts[fact.id] = facts[fact.id]._replace(fact=fact)


def end_of_chain(facts: Mapping[str, FiledFact], fact_id: str) -> Fact | None:
    """The fact at the end of a chain, or None where the id is not known."""
    return last_of(fact_id, _FactTable(facts)) if fact_id in facts else None


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
