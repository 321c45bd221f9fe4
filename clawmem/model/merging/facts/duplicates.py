"""Join equal facts that two machines learned: one stays current, and the others point to it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from clawmem.model.facts.fact import SUPERSEDED, Fact, FactLink
from clawmem.model.facts.reach import realm_of
from clawmem.model.facts.trust import trust_rank
from clawmem.model.language.text import normal
from clawmem.model.merging.facts.chains import Facts, replace_fact
from clawmem.model.merging.facts.fields import merge_links
from clawmem.model.merging.facts.table import FiledFact

DUPLICATE_REASON = "learned on two machines"


class DuplicateFact(NamedTuple):
    """The fact that stays current, and the equal one that now points to it."""

    kept: str
    other: str


def join_duplicates(facts: Facts, mine: Collection[str], yours: Collection[str]) -> Iterator[DuplicateFact]:
    """Keep one of several equal facts of an entity, where some are new in `mine` and some in `yours`."""
    for group in _alike(facts, {*mine, *yours}):
        if any(one in mine for one in group) and any(one in yours for one in group):
            kept = min(group, key=lambda one: _preference(facts[one].fact))
            for other in sorted(set(group) - {kept}):
                _join(facts, kept, other)
                yield DuplicateFact(kept, other)


def _alike(facts: Mapping[str, FiledFact], fresh: Collection[str]) -> list[list[str]]:
    groups: dict[tuple[str, str, str | None], list[str]] = defaultdict(list)
    for fact_id in fresh:
        one = facts.get(fact_id)
        if one is not None and one.fact.is_current:
            # The same words in two scopes are two facts.
            groups[one.path, f"{normal(one.fact.fact)}\n{realm_of(one.fact)}", one.fact.valid_to].append(fact_id)
    return [sorted(group) for key, group in sorted(groups.items(), key=lambda row: row[0][:2]) if len(group) > 1]


def _preference(fact: Fact) -> tuple[int, str, str]:
    """Prefer the most trusted source, then the earliest fact."""
    return -trust_rank(fact.trust), fact.timestamp, fact.id


def _join(facts: Facts, kept_id: str, other_id: str) -> None:
    kept, other = facts[kept_id].fact, facts[other_id].fact
    earlier = [link for link in other.links if _is_twin(link)]
    for link in earlier:
        twin = facts.get(link.to)
        if twin is not None and twin.fact.superseded_by == other_id:
            replace_fact(facts, twin.fact._replace(superseded_by=kept_id))
    joint = FactLink("merges", other_id, DUPLICATE_REASON, max(kept.timestamp, other.timestamp))
    moved = [link._replace(at=max(kept.timestamp, link.at or "")) for link in earlier]
    left = tuple(link for link in other.links if not _is_twin(link))
    replace_fact(facts, _richer(kept, other)._replace(links=merge_links((), kept.links, (joint, *moved))))
    replace_fact(facts, other._replace(status=SUPERSEDED, superseded_by=kept_id, links=left))


def _is_twin(link: FactLink) -> bool:
    return link.type == "merges" and link.reason == DUPLICATE_REASON


def _richer(kept: Fact, other: Fact) -> Fact:
    return kept._replace(
        confidence=_most(kept.confidence, other.confidence),
        importance=_most(kept.importance, other.importance),
        tags=_united(kept.tags, other.tags),
        related_entities=_united(kept.related_entities, other.related_entities),
    )


def _most(one: float | None, other: float | None) -> float | None:
    return max((value for value in (one, other) if value is not None), default=None)


def _united(kept: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    return (*kept, *sorted(set(other) - set(kept)))
