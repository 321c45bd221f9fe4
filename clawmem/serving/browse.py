"""Browsing: one fact whole, or all facts of some kind, with the counts that no commit holds yet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from clawmem.errors import ClawmemError, NotFound
from clawmem.index.refresh.outside import served
from clawmem.index.refresh.refresh import answered
from clawmem.index.search.channels import FactFilter, all_passing, all_sketches, rows
from clawmem.index.search.lookup import PlacedFact
from clawmem.index.search.lookup import find as find_fact
from clawmem.index.search.unreadable import unreadable
from clawmem.index.tables.store import Index
from clawmem.memory.history.chains import chain_in
from clawmem.memory.permission import check_may_read
from clawmem.model.facts.fact import Fact
from clawmem.model.facts.validity import last_true, untrue_reason
from clawmem.model.language.dates import stamp
from clawmem.model.records.caller import Caller
from clawmem.model.search.ranking import FactStanding, ordered
from clawmem.serving.recall.recall import standing_of
from clawmem.vault.state.journal import AccessCount, accesses, record_access, unfolded, with_access
from clawmem.vault.vault import Vault


class TruthAt(NamedTuple):
    """Whether a fact was true at a time: why not (None where it was), and what of its chain was true instead."""

    as_of: str
    why_not: str | None
    instead: PlacedFact | None


class FactDetails(NamedTuple):
    """A fact with the counts that no commit holds yet, its entity, whether it was true then, asides."""

    fact: Fact
    entity: str
    truth: TruthAt | None
    notices: tuple[str, ...] = ()


class FactList(NamedTuple):
    """Facts in their order of standing, each with its tier, and how many there are in all."""

    facts: tuple[tuple[PlacedFact, str], ...]
    total: int
    notices: tuple[str, ...] = ()


def show(vault: Vault, reference: str, caller: Caller, as_of: str | None = None) -> FactDetails:
    """One fact by id or unique prefix, which counts as an access; or with `as_of` whether it was true then."""
    try:
        shown = answered(vault, lambda index: _shown(index, reference, caller, as_of))
    except NotFound:
        _refuse_later(vault, reference)
        raise
    counted = accesses(unfolded(vault))
    problem = None if as_of else record_access(vault, stamp(caller.now), [shown.fact.id])
    notices = (*shown.notices, problem) if problem else shown.notices
    return shown._replace(fact=with_access(shown.fact, counted), notices=notices)


def _shown(index: Index, reference: str, caller: Caller, as_of: str | None) -> FactDetails:
    found = find_fact(index, reference)
    check_may_read(caller, found.entity)
    placed = PlacedFact(served(index, found.fact), found.entity)
    if as_of is None:
        return FactDetails(placed.fact, placed.entity, None, index.notices)
    reason = untrue_reason(placed.fact, as_of)
    instead = None
    if reason:
        chain = {one.fact.id: one for one in chain_in(index, placed.fact.id)}
        then = last_true((one.fact for one in chain.values()), as_of)
        instead = chain[then.id] if then else None
    lacks = unreadable(index) if reason else []
    return FactDetails(placed.fact, placed.entity, TruthAt(as_of, reason, instead), (*index.notices, *lacks))


def _refuse_later(vault: Vault, reference: str) -> None:
    """Raise NotFound that says so where a fact is in the vault now and was not yet, or no more, at a point."""
    if vault.present is None:
        return
    try:
        fact = answered(vault.present, lambda index: find_fact(index, reference)).fact
    except ClawmemError:
        return  # it is in neither, and the caller says so
    raise NotFound(
        f"{fact.id} was not in the vault then; it was recorded at {fact.timestamp}.",
        f"`clawmem log {fact.id}` tells its history.",
    )


def list_facts(
    vault: Vault,
    caller: Caller,
    wanted: FactFilter,
    limit: int | None = None,
    tier: str | None = None,
    status: str | None = None,
) -> FactList:
    """The facts that pass a filter, hot before warm before cold; listing counts as no access."""
    counted = accesses(unfolded(vault))

    def act(index: Index) -> FactList:
        # Ordering needs little of a fact: within a limit only those that are given are read whole.
        passing = dict(enumerate(all_passing(index, wanted))) if limit is None else all_sketches(index, wanted)
        chosen = [
            (n, one.tier)
            for n, one in _in_standing(passing, caller, wanted, counted)
            if tier in (None, one.tier) and status in (None, passing[n].fact.status)
        ]
        whole = passing if limit is None else rows(index, [n for n, _ in chosen[:limit]])
        given = ((whole[n], heat) for n, heat in chosen[:limit])
        facts = tuple((PlacedFact(with_access(one.fact, counted), one.entity), heat) for one, heat in given)
        return FactList(facts, len(chosen), (*index.notices, *unreadable(index, wanted.entity, wanted.owners)))

    return answered(vault, act)


def _in_standing(
    passing: Mapping[int, PlacedFact], caller: Caller, wanted: FactFilter, counted: Mapping[str, AccessCount]
) -> list[tuple[int, FactStanding]]:
    place = {one.fact.id: n for n, one in passing.items()}
    facts = ((with_access(passing[n].fact, counted), passing[n].entity) for n in place.values())
    standings = (standing_of(fact, entity, caller.now, caller.agent, wanted.as_of) for fact, entity in facts)
    return [(place[one.id], one) for one in ordered(standings)]


def peek(vault: Vault, reference: str, caller: Caller | None = None) -> PlacedFact:
    """One fact by id or unique prefix, without counting an access."""
    placed = answered(vault, lambda index: find_fact(index, reference))
    check_may_read(caller, placed.entity)
    return PlacedFact(with_access(placed.fact, accesses(unfolded(vault))), placed.entity)
