"""Recall: a question in, ranked facts out, with what each channel did; reads never commit."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from clawmem.index.channels import (
    Filter,
    Hits,
    keyword_channel,
    predicate_channel,
    rows,
    time_channel,
)
from clawmem.index.lookup import Placed, broken_files
from clawmem.index.refresh import open_index
from clawmem.index.store import Index
from clawmem.model.caller import Caller
from clawmem.model.dates import stamp
from clawmem.model.entity import owner_of
from clawmem.model.fact import Fact, importance_of
from clawmem.model.question import search_words, time_asked
from clawmem.model.ranking import Standing, rank
from clawmem.model.tiers import tier_of
from clawmem.vault.journal import Access, accesses, record_access, unfolded
from clawmem.vault.vault import Vault


class Found(NamedTuple):
    """A recalled fact with shown counts, its score, its tier, and the channels that found it with their scores."""

    fact: Fact
    entity: str
    score: float
    tier: str
    channels: Mapping[str, float]


class Channel(NamedTuple):
    """What one channel did: whether it ran, how many hits it had, and why it did not run."""

    ran: bool
    hits: int
    why_not: str = ""


class Recalled(NamedTuple):
    """The best facts, best first, and the account of each channel."""

    found: tuple[Found, ...]
    channels: Mapping[str, Channel]
    notices: tuple[str, ...] = ()


def recall(vault: Vault, question: str, caller: Caller, wanted: Filter, limit: int) -> Recalled:
    """The facts that answer a question best. Notes in the access journal which ones were shown."""
    index = open_index(vault)
    try:
        return _recall(vault, index, question, caller, wanted, limit)
    finally:
        index.close()


def _recall(vault: Vault, index: Index, question: str, caller: Caller, wanted: Filter, limit: int) -> Recalled:
    hits = {
        "predicate": predicate_channel(index, question, vault.catalog, wanted),
        "keyword": keyword_channel(index, search_words(question), wanted),
        "time": time_channel(index, time_asked(question, caller.now), wanted),
    }
    counted = accesses(unfolded(vault))
    placed = rows(index, sorted({n for one in hits.values() for n in one.scores}))
    shown = {n: Placed(with_access(one.fact, counted), one.entity) for n, one in placed.items()}
    found = _ranked(hits, shown, caller)[:limit]
    notices = [*index.notices, *unreadable(index)]
    if found:
        problem = record_access(vault, stamp(caller.now), (one.fact.id for one in found))
        notices += [problem] if problem else []
    channels = {name: Channel(one.ran, len(one.scores), one.why_not) for name, one in hits.items()}
    return Recalled(tuple(found), channels, tuple(notices))


def with_access(fact: Fact, counted: Mapping[str, Access]) -> Fact:
    """The fact with accesses counted that no commit holds yet."""
    access = counted.get(fact.id)
    if access is None:
        return fact
    last = max(access.last, fact.last_accessed or "")
    return fact._replace(access_count=fact.access_count + access.count, last_accessed=last)


def standing_of(fact: Fact, entity: str, now: datetime, agent: str | None) -> Standing:
    """What ordering needs to know of a fact."""
    return Standing(
        fact.id,
        tier_of(fact, now),
        fact.access_count,
        importance_of(fact),
        fact.timestamp,
        fact.trust,
        own=agent is not None and owner_of(entity) == agent,
    )


def _ranked(hits: Mapping[str, Hits], shown: Mapping[int, Placed], caller: Caller) -> list[Found]:
    by_id = {one.fact.id: one for one in shown.values()}
    standings = {fact_id: standing_of(one.fact, one.entity, caller.now, caller.agent) for fact_id, one in by_id.items()}
    scores = {
        name: {shown[n].fact.id: score for n, score in one.scores.items() if n in shown} for name, one in hits.items()
    }
    return [
        Found(by_id[one.id].fact, by_id[one.id].entity, round(one.score, 4), standings[one.id].tier, one.channels)
        for one in rank(scores, standings)
    ]


def unreadable(index: Index) -> list[str]:
    """A sentence for each committed file that could not be searched."""
    return [f"not searched: {problem}" for _, problem in broken_files(index)]
