"""Recall: a question in, ranked facts out, with what each channel did; reads never commit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from clawmem.index.channels import (
    Filter,
    Hits,
    keyword_channel,
    predicate_channel,
    rows,
    sketches,
    time_channel,
)
from clawmem.index.lookup import Placed, broken_files
from clawmem.index.refresh import answered
from clawmem.index.store import Index
from clawmem.model.caller import Caller
from clawmem.model.dates import stamp
from clawmem.model.entity import owner_of
from clawmem.model.fact import Fact, importance_of
from clawmem.model.question import search_words, time_asked
from clawmem.model.ranking import Ranked, Standing, rank
from clawmem.model.tiers import tier_of
from clawmem.vault.journal import Access, accesses, record_access, unfolded, with_access
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
    result = answered(vault, lambda index: _recall(vault, index, question, caller, wanted, limit))
    if not result.found:
        return result
    problem = record_access(vault, stamp(caller.now), (one.fact.id for one in result.found))
    return result._replace(notices=(*result.notices, problem)) if problem else result


def _recall(vault: Vault, index: Index, question: str, caller: Caller, wanted: Filter, limit: int) -> Recalled:
    hits = {
        "predicate": predicate_channel(index, question, vault.catalog, wanted),
        "keyword": keyword_channel(index, search_words(question), wanted),
    }
    near = {n for one in hits.values() for n in one.scores}
    hits["time"] = time_channel(index, time_asked(question, caller.now), wanted, near)
    counted = accesses(unfolded(vault))
    # Ordering needs little of a fact: only the winners are read whole.
    sketched = sketches(index, sorted(near | hits["time"].scores.keys()))
    shown = {n: Placed(with_access(one.fact, counted), one.entity) for n, one in sketched.items()}
    found = _whole(index, _best(hits, shown, caller, limit), counted)
    channels = {name: Channel(one.ran, len(one.scores), one.why_not) for name, one in hits.items()}
    return Recalled(found, channels, (*index.notices, *unreadable(index)))


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


def _best(
    hits: Mapping[str, Hits], shown: Mapping[int, Placed], caller: Caller, limit: int
) -> list[tuple[int, str, Ranked]]:
    """The row, tier and rank of the best hits, best first."""
    row_of = {one.fact.id: n for n, one in shown.items()}
    standings = {one.fact.id: standing_of(one.fact, one.entity, caller.now, caller.agent) for one in shown.values()}
    scores = {
        name: {shown[n].fact.id: score for n, score in one.scores.items() if n in shown} for name, one in hits.items()
    }
    best = rank(scores, standings)[:limit]
    # An agent's own facts come first among those that earned their place.
    best.sort(key=lambda one: not standings[one.id].own)
    return [(row_of[one.id], standings[one.id].tier, one) for one in best]


def _whole(index: Index, best: Sequence[tuple[int, str, Ranked]], counted: Mapping[str, Access]) -> tuple[Found, ...]:
    placed = rows(index, [n for n, _, _ in best])
    return tuple(
        Found(with_access(placed[n].fact, counted), placed[n].entity, round(one.score, 4), tier, one.channels)
        for n, tier, one in best
    )


def unreadable(index: Index) -> list[str]:
    """A sentence for each committed file that could not be searched."""
    return [f"not searched: {problem}" for _, problem in broken_files(index)]
