"""Judge facts by the gates: collect what the gates need from the index, for the wiki and for an organisation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from clawmem.errors import AmbiguousId, ClawmemError, InvalidInput, NotFound, Refused
from clawmem.index.refresh import run_query
from clawmem.index.search.channels import facts_stating
from clawmem.index.search.conflicts import conflicting_ids
from clawmem.index.search.events import events_by_id
from clawmem.index.search.graph import facts_linking_to
from clawmem.index.search.listing import facts_of_day
from clawmem.index.search.lookup import PlacedFact, by_ids, entity_exists, facts_of, find_fact
from clawmem.index.search.rival_values import rows_of_ids
from clawmem.index.tables.fact_marks import counted_facts
from clawmem.index.tables.store import Index
from clawmem.memory.entities.places import find_entity
from clawmem.memory.permission import check_may_read, check_may_read_fact, may_read
from clawmem.memory.scope import WriteScope
from clawmem.model.facts.catalog import Catalog
from clawmem.model.facts.fact import ACTIVE, FACT_PREFIX, Fact, FactLink, further_events
from clawmem.model.facts.gates import (
    MERGES,
    MOST_PREMISES,
    SUPPORTS,
    GateEvidence,
    GateResult,
    conclusion_of,
    confirming,
    gate_results,
    named_premises,
    needs_confirmation,
    with_references,
)
from clawmem.model.language.dates import stamp
from clawmem.model.language.text import counted
from clawmem.model.lifecycle.premises import PREMISES, in_doubt
from clawmem.model.lifecycle.tiers import stale_reason
from clawmem.model.records.caller import Caller
from clawmem.model.records.entity import visible_owners
from clawmem.model.settings.settings import LEARNER
from clawmem.vault.vault import Vault


class GateContext(NamedTuple):
    """What the gates depend on beside the facts: the catalog and the caller."""

    catalog: Catalog
    caller: Caller


class JudgedFacts(NamedTuple):
    """Some facts with the verdicts of the gates, the facts that contradict them, and their premises, all by id."""

    results: Mapping[str, tuple[GateResult, ...]]
    against: Mapping[str, tuple[str, ...]]
    others: Mapping[str, PlacedFact]


def judge(index: Index, context: GateContext, placed: Sequence[PlacedFact]) -> JudgedFacts:
    """Return the verdicts of the gates about some facts."""
    moment = stamp(context.caller.now)
    facts = [each.fact for each in placed]
    rows = rows_of_ids(index, {fact.id for fact in facts if fact.status == ACTIVE})
    against = conflicting_ids(index, ("",), context.catalog, moment, rows)
    premises = {link.to for fact in facts for link in fact.links if link.type in PREMISES}
    others = by_ids(index, sorted(premises | {other for found in against.values() for other in found}))
    sources = events_by_id(index, {fact.source_event for fact in facts if fact.source_event is not None})
    others_say = _confirming(index, facts)
    results = {}
    for used, (fact, entity) in zip(counted_facts(index, facts), placed, strict=True):
        stale = stale_reason(used, context.caller.now, sources)
        cited = fact.source_event in sources
        evidence = GateEvidence(entity, against.get(fact.id, ()), stale, cited, others_say.get(fact.id, ()))
        results[fact.id] = gate_results(fact, evidence, moment)
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
    cited = {placed.fact.source_event for placed in found.values()} | {fact.source_event for fact in asking}
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
        check_may_read_fact(caller, placed)
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
    judged = judge(index, GateContext(vault.catalog, caller), placed)
    return tuple(GatedFact(each, judged.results[each.fact.id]) for each in placed)


LESSON = "lesson"


def check_daily_limit(work: WriteScope, lessons: int) -> None:
    """Raise Refused if so many more lessons are beyond what the calling agent may store in a day (UTC)."""
    agent = work.caller.agent
    if not lessons or agent is None or work.vault.settings.agent_value(agent, "type") != LEARNER:
        return
    most = int(work.vault.settings.agent_value(agent, "lessons_per_day"))
    stored = facts_of_day(work.index, LESSON, agent, stamp(work.caller.now)[:10])
    if stored + lessons > most:
        text = f"The agent {agent} may store {counted(most, 'lesson')} a day"
        key = f"agents.{agent}.lessons_per_day"
        raise Refused(
            f"{text}; {stored} are stored, and {lessons} more came.",
            f"Keep the most important ones. A person sets the limit: `clawmem config get {key}`.",
        )


_NAMED = 5


def marked_notices(marked: Sequence[PlacedFact]) -> list[str]:
    """Return a sentence on the facts that are in doubt now, and one on those that are not any more."""
    doubted = [placed.fact.id for placed in marked if in_doubt(placed.fact)]
    cleared = [placed.fact.id for placed in marked if not in_doubt(placed.fact)]
    items = []
    if doubted:
        rest = "rests" if len(doubted) == 1 else "rest"
        items.append(
            f"{counted(len(doubted), 'fact')} {rest} on what changed, now in doubt: {_some(doubted)};"
            " `clawmem list --stale` lists them, `clawmem claim confirm ID` clears one that still holds"
        )
    if cleared:
        items.append(f"not in doubt any more: {_some(cleared)}")
    return items


def _some(ids: Sequence[str]) -> str:
    return ", ".join(ids[:_NAMED]) + (f" and {len(ids) - _NAMED:,} more" if len(ids) > _NAMED else "")


class LinkedStatement(NamedTuple):
    """The fact with its links, and a notice for each bracket that names no single fact."""

    fact: Fact
    notices: tuple[str, ...] = ()


class _Unresolved(Exception):
    """A bracket does not name one fact; the message says why."""


def linked_to_premises(index: Index, fact: Fact, caller: Caller) -> LinkedStatement:
    """Return the conclusion, with a `depends_on` link for each bracket that names one fact.

    A bracket names a fact by its id, by its statement or words that only one current fact contains, or by an entity
    with one current fact. The reason of a link is the sentence with ids in the brackets: the words of a premise are
    not stored again, because they would outlive it. The words in other brackets stay as text."""
    named = named_premises(fact.fact)
    premises: dict[str, str] = {}
    notices = list[str]()
    for premise in named[:MOST_PREMISES]:
        try:
            placed = _premise(index, premise.words, caller)
        except _Unresolved as problem:
            notices.append(f"[[{premise.words}]] names no premise: {problem}; it stays as text")
            continue
        premises[premise.words] = placed.fact.id
    if len(named) > MOST_PREMISES:
        notices.append(f"only the first {MOST_PREMISES} premises are linked; the others stay as text")
    reason = with_references(fact.fact, lambda premise: premises.get(premise.words))
    text = conclusion_of(fact.fact, lambda premise: premises.get(premise.words))
    known = {link.to for link in fact.links if link.type == "depends_on"}
    added = [premise for premise in dict.fromkeys(premises.values()) if premise not in known]
    links = (*fact.links, *(FactLink("depends_on", name, reason, stamp(caller.now)) for name in added))
    return LinkedStatement(fact._replace(fact=text, links=links), tuple(notices))


def _premise(index: Index, words: str, caller: Caller) -> PlacedFact:
    if words.startswith(FACT_PREFIX):
        try:
            placed = find_fact(index, words)
        except (NotFound, AmbiguousId, InvalidInput) as problem:
            raise _Unresolved(problem.message.rstrip(".")) from None
        if not may_read(caller, placed.entity):
            raise _Unresolved(f"No fact has the id '{words}'")
        return placed
    return _stated(index, words, caller) or _only_fact_of(index, words, caller)


def _stated(index: Index, words: str, caller: Caller) -> PlacedFact | None:
    """Return the one current fact with exactly this statement, else the one that contains the words, or None."""
    found = facts_stating(index, words, visible_owners(caller.agent, None))
    if len(found) > 1:
        ids = ", ".join(sorted(placed.fact.id for placed in found)[:5])
        raise _Unresolved(f"{len(found)} facts say it ({ids})")
    return found[0] if found else None


def _only_fact_of(index: Index, words: str, caller: Caller) -> PlacedFact:
    try:
        entity = find_entity(index, words, caller)
    except ClawmemError:
        raise _Unresolved("no fact and no entity is called that") from None
    items = [placed for placed in facts_of(index, entity) if placed.fact.is_current and may_read(caller, placed.entity)]
    if len(items) != 1:
        raise _Unresolved(f"{entity} has {len(items)} facts, so name one of them")
    return items[0]
