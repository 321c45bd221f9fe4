"""Judge facts by the gates: collect what the gates need from the index, for the wiki and for an organisation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from clawmem.errors import NotFound
from clawmem.index.refresh.refresh import run_query
from clawmem.index.search.conflicts import conflicting_ids
from clawmem.index.search.graph import facts_linking_to
from clawmem.index.search.lookup import PlacedFact, by_ids, entity_exists, facts_of, find_fact
from clawmem.index.search.rival_values import rows_of_ids
from clawmem.index.search.sittings import events_by_id
from clawmem.index.tables.accesses import counted_facts
from clawmem.index.tables.store import Index
from clawmem.memory.permission import check_may_read
from clawmem.model.facts.catalog import Catalog
from clawmem.model.facts.fact import ACTIVE, Fact
from clawmem.model.facts.further_evidence import further_events
from clawmem.model.facts.gates import (
    MERGES,
    SUPPORTS,
    GateEvidence,
    GateLimits,
    GateResult,
    confirming,
    gate_results,
    needs_confirmation,
)
from clawmem.model.language.dates import stamp
from clawmem.model.lifecycle.premises import PREMISES
from clawmem.model.lifecycle.staleness import stale_reason
from clawmem.model.records.caller import Caller
from clawmem.model.settings.settings import Settings
from clawmem.vault.vault import Vault


class GateContext(NamedTuple):
    """What the gates depend on beside the facts: thresholds, days until a fact is stale, the catalog, the caller."""

    limits: GateLimits
    stale_days: int
    catalog: Catalog
    caller: Caller


class JudgedFacts(NamedTuple):
    """Some facts with the verdicts of the gates, the facts that contradict them, and their premises, all by id."""

    results: Mapping[str, tuple[GateResult, ...]]
    against: Mapping[str, tuple[str, ...]]
    others: Mapping[str, PlacedFact]


def gate_context(settings: Settings, catalog: Catalog, caller: Caller) -> GateContext:
    """Return the thresholds of the settings."""
    limits = GateLimits(
        settings.number("wiki.gates.confidence"),
        settings.whole("wiki.gates.length"),
        settings.whole("wiki.gates.sources"),
    )
    return GateContext(limits, settings.whole("stale.days"), catalog, caller)


def judge(index: Index, context: GateContext, placed: Sequence[PlacedFact]) -> JudgedFacts:
    """Return the verdicts of the gates about some facts."""
    moment = stamp(context.caller.now)
    facts = [other_placed.fact for other_placed in placed]
    rows = rows_of_ids(index, {fact.id for fact in facts if fact.status == ACTIVE})
    against = conflicting_ids(index, ("",), context.catalog, moment, rows)
    premises = {link.to for fact in facts for link in fact.links if link.type in PREMISES}
    others = by_ids(index, sorted(premises | {other for found in against.values() for other in found}))
    sources = events_by_id(index, {fact.source_event for fact in facts if fact.source_event is not None})
    others_say = _confirming(index, facts)
    results = {}
    for used, (fact, entity) in zip(counted_facts(index, facts), placed, strict=True):
        stale = stale_reason(used, context.caller.now, context.stale_days, sources)
        cited = fact.source_event in sources
        evidence = GateEvidence(entity, against.get(fact.id, ()), stale, cited, others_say.get(fact.id, ()))
        results[fact.id] = gate_results(fact, evidence, context.limits, moment)
    return JudgedFacts(results, against, others)


def _confirming(index: Index, facts: Sequence[Fact]) -> dict[str, tuple[str, ...]]:
    """Return the facts that confirm those that need it, by id."""
    asking = [fact for fact in facts if fact.status == ACTIVE and needs_confirmation(fact)]
    if not asking:
        return {}
    linked = {fact.id: [link.to for link in fact.links if link.type in (SUPPORTS, MERGES)] for fact in asking}
    for target, placed in facts_linking_to(index, SUPPORTS, linked):
        linked[target].append(placed.fact.id)
    found = by_ids(index, sorted({identifier for ids in linked.values() for identifier in ids}))
    cited = {other_placed.fact.source_event for other_placed in found.values()} | {fact.source_event for fact in asking}
    cited |= {event for fact in asking for event in further_events(fact)}
    events = events_by_id(index, {event for event in cited if event is not None})
    others_by_id = {fact.id: [found[key].fact for key in set(linked[fact.id]) & found.keys()] for fact in asking}
    return {fact.id: confirming(fact, others_by_id[fact.id], events) for fact in asking}


class GatedFact(NamedTuple):
    """A fact with the verdict of each gate."""

    placed: PlacedFact
    results: tuple[GateResult, ...]


def gate_fact(vault: Vault, caller: Caller, reference: str) -> GatedFact:
    """Return the verdicts about one fact. Raise NotFound, AmbiguousId, or NotPermitted for another agent's."""

    def read(index: Index) -> GatedFact:
        placed = find_fact(index, reference)
        check_may_read(caller, placed.entity)
        return _gated(vault, caller, index, [placed])[0]

    return run_query(vault, read)


def gate_entity(vault: Vault, caller: Caller, name: str) -> tuple[GatedFact, ...]:
    """Return the active facts of an entity, each with its verdicts. Raise NotFound for an unknown entity."""
    check_may_read(caller, name)

    def read(index: Index) -> tuple[GatedFact, ...]:
        if not entity_exists(index, name):
            raise NotFound(f"There is no entity {name}.", "`clawmem entity list` shows all.")
        return _gated(
            vault, caller, index, [placed for placed in facts_of(index, name) if placed.fact.status == ACTIVE]
        )

    return run_query(vault, read)


def _gated(vault: Vault, caller: Caller, index: Index, placed: list[PlacedFact]) -> tuple[GatedFact, ...]:
    judged = judge(index, gate_context(vault.settings, vault.catalog, caller), placed)
    return tuple(GatedFact(other_placed, judged.results[other_placed.fact.id]) for other_placed in placed)
