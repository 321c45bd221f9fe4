"""Show a single fact, or list facts, with accesses that are not committed yet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from clawmem.errors import ClawmemError, NotFound
from clawmem.index.refresh import run_query
from clawmem.index.search.by_tier import is_all_in_reach
from clawmem.index.search.channels import FactFilter, facts_in_rows, passing_with_more, sketches, sketches_of_ids
from clawmem.index.search.events import events_by_id
from clawmem.index.search.listing import ListOrder, facts_in_use, listed_rows, names_project, realms_of_work
from clawmem.index.search.lookup import PlacedFact, entities, facts_of, unreadable_notices
from clawmem.index.search.lookup import find_fact as find_fact
from clawmem.index.tables.fact_marks import counted_fact, plain_importances, served_fact
from clawmem.index.tables.store import Index
from clawmem.memory.permission import check_may_read_fact, may_read
from clawmem.model.facts.fact import SUPERSEDED, Fact, importance_of
from clawmem.model.facts.reach import PROJECT
from clawmem.model.facts.validity import last_true, untrue_reason
from clawmem.model.language.dates import stamp
from clawmem.model.lifecycle.tiers import SCORE_POLICY, stale_reason
from clawmem.model.named_tuple import NamedTuple
from clawmem.model.records.caller import Caller
from clawmem.model.records.entity import Entity, visible_owners
from clawmem.model.records.event import Event
from clawmem.model.search.ranking import ordered
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

    `conflicts` are the ids of the facts that some of them are in conflict with, by id. `hidden` is how many more pass
    all of the filter but its scope."""

    facts: tuple[tuple[PlacedFact, str], ...]
    total: int
    notices: tuple[str, ...] = ()
    conflicts: Mapping[str, tuple[str, ...]] = {}
    hidden: int = 0

    def scope_talk(self) -> list[str]:
        """Return a line about the hidden facts, if there are any."""
        return [f"{self.hidden:,} more of another project or scope: --scope all"] if self.hidden else []


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
    check_may_read_fact(caller, found)
    placed = PlacedFact(served_fact(index, counted_fact(index, found.fact)), found.entity)
    if as_of is None:
        against = conflicts_of_facts(vault, index, caller, [placed.fact.id], None).get(placed.fact.id, ())
        return FactDetails(placed.fact, placed.entity, None, index.notices, against)
    reason = untrue_reason(placed.fact, as_of)
    instead = None
    if reason:
        from clawmem.memory.history.why import find_chain  # few facts are asked about as of a day

        chain = {each.fact.id: each for each in find_chain(index, placed.fact.id)}
        then = last_true((placed.fact for placed in chain.values()), as_of)
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
    newest: bool = False,
) -> FactList:
    """Return the facts that pass a filter, in the order of `ListOrder`. Listing does not count as an access."""
    counted = count_accesses(unfolded_accesses(vault))
    order = ListOrder(caller.now, caller.agent, vault.settings.words("tiers.policy"), tier, status, newest)

    def act(index: Index) -> FactList:
        rows, total = listed_rows(index, wanted, order, limit, counted.keys())
        used = sketches_of_ids(index, wanted, counted.keys()) if counted else {}
        if used:
            chosen = _with_accesses(index, rows, used, counted, order, wanted)
            total += len(chosen) - len(rows)
            rows = dict(list(chosen.items())[:limit])
        placed = facts_in_rows(index, list(rows))
        facts = tuple((_with_counts(placed[n], counted), heat) for n, heat in rows.items())
        ids = [placed.fact.id for placed, _ in facts]
        conflicts = conflicts_of_facts(vault, index, caller, ids, wanted.as_of)
        notices = (*index.notices, *unreadable_notices(index, wanted.entity, wanted.owners))
        hidden = 0
        if wanted.reach is not None and not is_all_in_reach(index, wanted.reach):
            anywhere, here = (listed_rows(index, each, order, 0)[1] for each in (wanted._replace(reach=None), wanted))
            hidden = anywhere - here
        return FactList(facts, total, notices, conflicts, hidden)

    return run_query(vault, act)


def _with_counts(placed: PlacedFact, counted: Mapping[str, AccessCount]) -> PlacedFact:
    return PlacedFact(add_accesses(placed.fact, counted), placed.entity)


def _with_accesses(
    index: Index,
    rows: Mapping[int, str],
    used: Mapping[int, PlacedFact],
    counted: Mapping[str, AccessCount],
    order: ListOrder,
    asked: FactFilter,
) -> dict[int, str]:
    """Return listed rows and those of `used`, whose accesses are not committed, in the order of the list."""
    bases = plain_importances(index) if order.policy == SCORE_POLICY else {}
    placed = {n: _with_counts(fact, counted) for n, fact in {**sketches(index, list(rows)), **used}.items()}
    features = {
        n: features_of(fact, entity, order.now, order.agent, asked.as_of, policy=order.policy, base=bases.get(fact.id))
        for n, (fact, entity) in placed.items()
        if n in rows or order.status in (None, fact.status)
    }
    wanted = {feature.id: n for n, feature in features.items() if n in rows or order.tier in (None, feature.tier)}
    listed = ordered(feature for feature in features.values() if feature.id in wanted)
    if order.newest:
        listed.sort(key=lambda feature: feature.id)
        listed.sort(key=lambda feature: feature.timestamp, reverse=True)
        if names_project(asked):
            realms = realms_of_work(index, placed)
            listed.sort(key=lambda feature: not realms.get(wanted[feature.id], "").startswith(f"{PROJECT}:"))
    return {wanted[feature.id]: feature.tier for feature in listed}


def _counted(index: Index, placed: PlacedFact) -> PlacedFact:
    return PlacedFact(counted_fact(index, placed.fact), placed.entity)


def peek(vault: Vault, reference: str, caller: Caller | None = None) -> PlacedFact:
    """Return a fact by id or unique prefix without counting an access."""
    placed = run_query(vault, lambda index: _counted(index, find_fact(index, reference)))
    check_may_read_fact(caller, placed)
    return _with_counts(placed, count_accesses(unfolded_accesses(vault)))


def plain_importance(vault: Vault, reference: str) -> float:
    """Return the importance of a fact before accesses raised it."""
    return importance_of(run_query(vault, lambda index: find_fact(index, reference)).fact)


class StaleFacts(NamedTuple):
    """Stale facts, each with the reason, and their total number."""

    facts: tuple[tuple[PlacedFact, str], ...]
    total: int


def list_stale(vault: Vault, caller: Caller, wanted: FactFilter, limit: int | None) -> StaleFacts:
    """Return the stale facts that pass the filter, at most `limit`."""

    def read(index: Index) -> list[tuple[PlacedFact, str]]:
        # No other fact can have a reason.
        placed = passing_with_more(index, wanted)
        sources = sources_of(index, (each.fact for each in placed))
        reasons = ((each, stale_reason(each.fact, caller.now, sources)) for each in placed)
        return [(placed, why) for placed, why in reasons if why is not None]

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


def export_memory(
    vault: Vault, caller: Caller, entity: str | None = None, category: str | None = None
) -> ExportedMemory:
    """Return what the caller may read, or one entity, to pass it on. Retracted facts are left out, and what
    not everybody may see. It does not count as an access. Only of a `category`, if given, is told what is left out.

    Raise NotFound if there is no such entity.
    """

    from clawmem.index.tables.rights import for_everybody, left_out  # lists of facts need none of it
    from clawmem.memory.entities.places import find_entity

    def act(index: Index) -> ExportedMemory:
        name = find_entity(index, entity, caller) if entity else None
        chosen = (entity for entity in entities(index) if may_read(caller, entity.name) and name in (None, entity.name))
        concepts = tuple(
            Concept(
                entity,
                tuple(placed.fact for placed in facts_of(index, entity.name) if _is_exported(placed)),
            )
            for entity in chosen
        )
        return ExportedMemory(concepts, (*index.notices, *unreadable_notices(index), *left_out(index, category)))

    return run_query(for_everybody(vault, stamp(caller.now)), act)


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
    use = facts_in_use(index, owners, limit, {fact_id: each.count for fact_id, each in unkept.items()})
    placed = facts_in_rows(index, [*use.most, *use.never])
    most, never = ([_with_counts(placed[n], unkept) for n in rows] for rows in (use.most, use.never))
    uses = [EntityUse(name, *numbers) for name, numbers in use.entities.items()]
    uses.sort(key=lambda each: (-each.accesses, each.entity))
    facts, asked, accesses = (sum(numbers[at] for numbers in use.entities.values()) for at in range(3))
    return Analytics(facts, asked, accesses, tuple(most), tuple(never), tuple(uses[:limit]), index.notices)
