"""Show a single fact, or list facts, with accesses that are not committed yet."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from clawmem.errors import ClawmemError, NotFound
from clawmem.index.refresh.refresh import run_query
from clawmem.index.search.channels import FactFilter, all_passing, all_sketches, facts_in_rows, passing_with_more
from clawmem.index.search.events import events_by_id
from clawmem.index.search.lookup import PlacedFact, all_facts, entities, facts_of, unreadable_notices
from clawmem.index.search.lookup import find_fact as find_fact
from clawmem.index.tables.accesses import counted_fact, plain_importances
from clawmem.index.tables.outside import served_fact
from clawmem.index.tables.store import Index
from clawmem.memory.permission import check_may_read, may_read
from clawmem.model.facts.fact import SUPERSEDED, Fact, importance_of
from clawmem.model.facts.validity import last_true, untrue_reason
from clawmem.model.language.dates import stamp
from clawmem.model.lifecycle.staleness import stale_reason
from clawmem.model.lifecycle.tiers import SCORE_POLICY
from clawmem.model.named_tuple import NamedTuple
from clawmem.model.records.caller import Caller
from clawmem.model.records.entity import Entity, owner_of, visible_owners
from clawmem.model.records.event import Event
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
        from clawmem.memory.history.why import find_chain  # few facts are asked about as of a day

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


class StaleFacts(NamedTuple):
    """Stale facts, each with the reason, and their total number."""

    facts: tuple[tuple[PlacedFact, str], ...]
    total: int


def list_stale(vault: Vault, caller: Caller, wanted: FactFilter, limit: int) -> StaleFacts:
    """Return the stale facts that pass the filter, at most `limit`."""
    days = vault.settings.whole("stale.days")

    def read(index: Index) -> list[tuple[PlacedFact, str]]:
        # No other fact can have a reason.
        placed = passing_with_more(index, wanted)
        sources = sources_of(index, (other_placed.fact for other_placed in placed))
        reasons = (
            (other_placed, stale_reason(other_placed.fact, caller.now, days, sources)) for other_placed in placed
        )
        return [(other_placed, why) for other_placed, why in reasons if why is not None]

    found = run_query(vault, read)
    found.sort(key=lambda pair: (-importance_of(pair[0].fact), pair[0].fact.timestamp, pair[0].fact.id))
    return StaleFacts(tuple(found[:limit]), len(found))


def sources_of(index: Index, facts: Iterable[Fact]) -> dict[str, Event]:
    """Return the events that some facts cite, by id."""
    return events_by_id(index, {fact.source_event for fact in facts if fact.source_event is not None})


class Concept(NamedTuple):
    """An entity with its facts, as a page of an export has them."""

    entity: Entity
    facts: Sequence[Fact]


class ExportedMemory(NamedTuple):
    """Entities in order of their names, each with its current and superseded facts; and notices."""

    concepts: tuple[Concept, ...]
    notices: Sequence[str]

    def facts(self) -> Iterator[PlacedFact]:
        """Yield the facts, each with its entity."""
        for concept in self.concepts:
            for fact in concept.facts:
                yield PlacedFact(fact, concept.entity.name)


def export_memory(vault: Vault, caller: Caller, entity: str | None = None) -> ExportedMemory:
    """Return what the caller may read, or one entity. Retracted facts are left out. It does not count as an access.

    Raise NotFound if there is no such entity.
    """

    def act(index: Index) -> ExportedMemory:
        from clawmem.memory.entities.places import find_entity  # loads what writes; lists of facts need none of it

        name = find_entity(index, entity, caller) if entity else None
        chosen = (
            other_entity
            for other_entity in entities(index)
            if may_read(caller, other_entity.name) and name in (None, other_entity.name)
        )
        concepts = tuple(
            Concept(
                other_entity,
                tuple(placed.fact for placed in facts_of(index, other_entity.name) if _is_exported(placed)),
            )
            for other_entity in chosen
        )
        return ExportedMemory(concepts, (*index.notices, *unreadable_notices(index)))

    return run_query(vault, act)


def _is_exported(placed: PlacedFact) -> bool:
    return placed.fact.is_current or placed.fact.status == SUPERSEDED


class EntityUse(NamedTuple):
    """An entity with the number of its active facts, of those that were asked for, and of all accesses."""

    entity: str
    facts: int
    asked_for: int
    accesses: int


class Analytics(NamedTuple):
    """The active facts that were asked for most, those never asked for (oldest first), their totals, and each entity.

    Entities are in the order of their accesses.
    """

    facts: int
    asked_for: int
    accesses: int
    most: tuple[PlacedFact, ...]
    never: tuple[PlacedFact, ...]
    entities: tuple[EntityUse, ...]
    notices: tuple[str, ...] = ()


def analytics(vault: Vault, caller: Caller, limit: int) -> Analytics:
    """Return how the active facts that the caller may see are used, at most `limit` of each list.

    Accesses that the next heartbeat will fold count, too. Reading this counts as no access.
    """
    return run_query(vault, lambda index: _analytics(vault, index, caller, limit))


def _analytics(vault: Vault, index: Index, caller: Caller, limit: int) -> Analytics:
    owners, unkept = visible_owners(caller.agent), count_accesses(unfolded_accesses(vault))
    facts = [
        PlacedFact(add_accesses(counted_fact(index, placed.fact), unkept), placed.entity)
        for placed in all_facts(index)
        if placed.fact.status == "active" and (owner_of(placed.entity) or "") in owners
    ]
    asked = sorted(
        (placed for placed in facts if placed.fact.access_count), key=lambda placed: -placed.fact.access_count
    )
    never = sorted(
        (placed for placed in facts if not placed.fact.access_count), key=lambda placed: placed.fact.timestamp
    )
    by_entity: dict[str, list[int]] = defaultdict(list)
    for placed in facts:
        by_entity[placed.entity].append(placed.fact.access_count)
    uses = [EntityUse(name, len(counts), sum(map(bool, counts)), sum(counts)) for name, counts in by_entity.items()]
    uses.sort(key=lambda use: (-use.accesses, use.entity))
    total = sum(placed.fact.access_count for placed in asked)
    notices = index.notices
    return Analytics(
        len(facts), len(asked), total, tuple(asked[:limit]), tuple(never[:limit]), tuple(uses[:limit]), notices
    )
