"""Candidates as units of a context: a line each, what stands against it, and its evidence where that is asked for."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from clawmem.index.search.by_tier import FactCandidate
from clawmem.index.search.channels import facts_in_rows
from clawmem.index.search.lookup import context_fact_from_row
from clawmem.index.search.notes import days_of
from clawmem.model.facts.catalog import Catalog
from clawmem.model.facts.fact import Fact
from clawmem.model.language.dates import day_of
from clawmem.model.pages.packing import Key, PackedContext, Unit
from clawmem.model.pages.tokens import context_line, cut, lacks_day, said_then, servable, token_bound
from clawmem.serving.context.tiers import TITLES, TierCounts, places
from clawmem.serving.recall.conflicts import marks

LONGEST_QUOTE = 300


class UnitStyle(NamedTuple):
    """How facts are told: the catalog that knows which predicates have one value, the moment at which conflicts
    count, and whether with evidence."""

    catalog: Catalog
    moment: str
    evidence: bool = False


def fact_units(on: TierCounts, candidates: Sequence[FactCandidate], way: UnitStyle) -> list[Unit]:
    """A unit for each candidate, in their order. Most are told by their kept count alone."""
    marked = marks(on.source, on.reader, way.catalog, way.moment, candidates)
    wordy = [one.n for one in candidates if way.evidence or one.n in marked]
    placed = told_facts(on, wordy)
    days = days_of(on.source, [one.source_event or "" for one in placed.values()]) if way.evidence else {}
    shelf_of = places(on, {n for mark in marked.values() for n in mark.rivals})
    units = []
    for one in candidates:
        mark = marked.get(one.n)
        if mark is None and not way.evidence:
            units.append(Unit(one.n, one.tokens, bool(one.exact), None, _shelves({one.n: one})))
            continue
        shown = {one.n: one, **{n: shelf_of[n] for n in (mark.rivals if mark else ()) if n in shelf_of}}
        below = (mark.text if mark else "") + (_evidence(placed[one.n], days) if way.evidence else "")
        text = context_line(placed[one.n]) + below if below else None
        tokens = one.tokens + (token_bound(below) if below else 0)
        units.append(Unit(one.n, tokens, bool(one.exact) and not below, text, _shelves(shown)))
    return units


def words_of(on: TierCounts, packed: PackedContext) -> Mapping[Key, str]:
    """The lines of the facts that are in without words of their own."""
    numbers = [unit.key for part in packed.sections for unit in part.units if unit.text is None]
    facts = told_facts(on, [n for n in numbers if isinstance(n, int)])
    return {n: context_line(fact) for n, fact in facts.items()}


def told_facts(on: TierCounts, numbers: Sequence[int]) -> dict[int, Fact]:
    """The facts of some rows as a context tells them: one that tells no time of its own, with the day of its event."""
    facts = {n: one.fact for n, one in facts_in_rows(on.source, numbers, context_fact_from_row).items()}
    wanting = {n: fact.source_event for n, fact in facts.items() if fact.source_event and lacks_day(fact)}
    if wanting:
        days = days_of(on.source, list(wanting.values()))
        facts.update({n: said_then(facts[n], days[event]) for n, event in wanting.items() if event in days})
    return facts


def _shelves(shown: Mapping[int, FactCandidate]) -> tuple[tuple[Key, str], ...]:
    return tuple((n, TITLES.get(one.shelf, "")) for n, one in shown.items())


def _evidence(fact: Fact, days: Mapping[str, str]) -> str:
    """The quote, the event and its day; nothing where the fact has neither a quote nor an event."""
    if not fact.source_text and not fact.source_event:
        return ""
    day = servable(days.get(fact.source_event or "") or day_of(fact.timestamp))
    where = f"({servable(fact.source_event)}, {day})" if fact.source_event else f"({day})"
    quote = cut(servable(fact.source_text or ""), LONGEST_QUOTE)
    return f'> "{quote}" {where}\n' if quote else f"> {where}\n"
