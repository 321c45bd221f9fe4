"""Show a single fact, or list facts, with accesses that are not committed yet."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from clawmem.errors import ClawmemError, NotFound
from clawmem.index.refresh.refresh import run_query
from clawmem.index.search.channels import FactFilter, all_passing, all_sketches, facts_in_rows
from clawmem.index.search.lookup import PlacedFact
from clawmem.index.search.lookup import find_fact as find_fact
from clawmem.index.search.unreadable import unreadable_notices
from clawmem.index.tables.accesses import counted_fact, plain_importances
from clawmem.index.tables.outside import served_fact
from clawmem.index.tables.store import Index
from clawmem.memory.history.chains import find_chain
from clawmem.memory.permission import check_may_read
from clawmem.model.facts.fact import Fact, importance_of
from clawmem.model.facts.validity import last_true, untrue_reason
from clawmem.model.language.dates import stamp
from clawmem.model.lifecycle.tiers import SCORE_POLICY
from clawmem.model.records.caller import Caller
from clawmem.model.search.ranking import RankingFeatures, ordered
from clawmem.serving.recall.recall import conflicts_of_facts, features_of
from clawmem.vault.state.journal import AccessCount, add_accesses, count_accesses, record_access, unfolded_accesses
from clawmem.vault.vault import Vault


class TruthAt(NamedTuple):
    """Whether a fact was true at a time: the reason if not (else None), and the fact of its chain that was."""

    as_of: str
    why_not: str | None
    instead: PlacedFact | None


class FactDetails(NamedTuple):
    """A fact with current access counts, its entity, whether it was true at the requested time, and notices.

    `against` are the ids of the facts that it is in conflict with."""

    fact: Fact
    entity: str
    truth: TruthAt | None
    notices: tuple[str, ...] = ()
    against: tuple[str, ...] = ()


class FactList(NamedTuple):
    """Facts in ranking order, each with its tier, and their total number.

    `conflicts` are the ids of the facts that some of them are in conflict with, by id."""

    facts: tuple[tuple[PlacedFact, str], ...]
    total: int
    notices: tuple[str, ...] = ()
    conflicts: Mapping[str, tuple[str, ...]] = {}


def show_fact(vault: Vault, reference: str, caller: Caller, as_of: str | None = None) -> FactDetails:
    """Show a fact by id or unique prefix and count an access; with `as_of`, only say whether it was true then."""
    try:
        shown = run_query(vault, lambda index: _shown(vault, index, reference, caller, as_of))
    except NotFound:
        _refuse_later(vault, reference)
        raise
    counted = count_accesses(unfolded_accesses(vault))
    problem = None if as_of else record_access(vault, stamp(caller.now), [shown.fact.id])
    notices = (*shown.notices, problem) if problem else shown.notices
    return shown._replace(fact=add_accesses(shown.fact, counted), notices=notices)


def _shown(vault: Vault, index: Index, reference: str, caller: Caller, as_of: str | None) -> FactDetails:
    found = find_fact(index, reference)
    check_may_read(caller, found.entity)
    placed = PlacedFact(served_fact(index, counted_fact(index, found.fact)), found.entity)
    if as_of is None:
        against = conflicts_of_facts(vault, index, caller, [placed.fact.id], None).get(placed.fact.id, ())
        return FactDetails(placed.fact, placed.entity, None, index.notices, against)
    reason = untrue_reason(placed.fact, as_of)
    instead = None
    if reason:
        chain = {other_placed.fact.id: other_placed for other_placed in find_chain(index, placed.fact.id)}
        then = last_true((other_placed.fact for other_placed in chain.values()), as_of)
        instead = chain[then.id] if then else None
    lacks = unreadable_notices(index) if reason else []
    return FactDetails(placed.fact, placed.entity, TruthAt(as_of, reason, instead), (*index.notices, *lacks))


def _refuse_later(vault: Vault, reference: str) -> None:
    """Raise a more precise NotFound if a fact exists in the present vault but not in this past state."""
    if vault.present is None:
        return
    try:
        fact = run_query(vault.present, lambda index: find_fact(index, reference)).fact
    except ClawmemError:
        return  # the present vault lacks it, too, and the caller reports that
    raise NotFound(
        f"{fact.id} was not in the vault then; it was recorded at {fact.timestamp}.",
        f"Show its history with `clawmem log {fact.id}`.",
    )


def list_facts(
    vault: Vault,
    caller: Caller,
    wanted: FactFilter,
    limit: int | None = None,
    tier: str | None = None,
    status: str | None = None,
) -> FactList:
    """Return the facts that pass a filter, hot before warm before cold. Listing does not count as an access."""
    counted, policy = count_accesses(unfolded_accesses(vault)), vault.settings.words("tiers.policy")

    def act(index: Index) -> FactList:
        # Sorting needs only a part of each fact; with a limit, only the listed ones are read completely.
        bases = plain_importances(index) if policy == SCORE_POLICY else {}
        passing = dict(enumerate(all_passing(index, wanted))) if limit is None else all_sketches(index, wanted)
        chosen = [
            (n, features.tier)
            for n, features in _ranked(passing, caller, wanted, counted, policy, bases)
            if tier in (None, features.tier) and status in (None, passing[n].fact.status)
        ]
        whole = passing if limit is None else facts_in_rows(index, [n for n, _ in chosen[:limit]])
        generator = ((whole[n], heat) for n, heat in chosen[:limit])
        facts = tuple(
            (PlacedFact(add_accesses(placed.fact, counted), placed.entity), heat) for placed, heat in generator
        )
        conflicts = conflicts_of_facts(vault, index, caller, [placed.fact.id for placed, _ in facts], wanted.as_of)
        notices = (*index.notices, *unreadable_notices(index, wanted.entity, wanted.owners))
        return FactList(facts, len(chosen), notices, conflicts)

    return run_query(vault, act)


def _ranked(
    passing: Mapping[int, PlacedFact],
    caller: Caller,
    wanted: FactFilter,
    counted: Mapping[str, AccessCount],
    policy: str,
    bases: Mapping[str, float],
) -> list[tuple[int, RankingFeatures]]:
    place = {placed.fact.id: n for n, placed in passing.items()}
    facts = ((add_accesses(passing[n].fact, counted), passing[n].entity) for n in place.values())
    asked = caller.now, caller.agent, wanted.as_of
    features = (features_of(fact, entity, *asked, policy=policy, base=bases.get(fact.id)) for fact, entity in facts)
    return [(place[other_features.id], other_features) for other_features in ordered(features)]


def _counted(index: Index, placed: PlacedFact) -> PlacedFact:
    return PlacedFact(counted_fact(index, placed.fact), placed.entity)


def peek(vault: Vault, reference: str, caller: Caller | None = None) -> PlacedFact:
    """Return a fact by id or unique prefix without counting an access."""
    placed = run_query(vault, lambda index: _counted(index, find_fact(index, reference)))
    check_may_read(caller, placed.entity)
    return PlacedFact(add_accesses(placed.fact, count_accesses(unfolded_accesses(vault))), placed.entity)


def plain_importance(vault: Vault, reference: str) -> float:
    """Return the importance of a fact before accesses raised it."""
    return importance_of(run_query(vault, lambda index: find_fact(index, reference)).fact)
