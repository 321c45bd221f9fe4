"""Facts as units of a context: one line each, with conflicts and, on request, evidence below."""

from collections.abc import Collection, Mapping, Sequence

from clawmem.index.search.by_tier import FactCandidate
from clawmem.index.search.channels import facts_in_rows
from clawmem.index.search.lookup import context_fact_from_row
from clawmem.index.search.notes import days_of
from clawmem.index.search.scoped import realms_of_work
from clawmem.model.facts.catalog import Catalog
from clawmem.model.facts.fact import Fact
from clawmem.model.facts.reach import label_of
from clawmem.model.language.dates import day_of
from clawmem.model.named_tuple import NamedTuple
from clawmem.model.pages.packing import Key, PackedContext, Unit
from clawmem.model.pages.tokens import (
    context_line,
    label_part,
    lacks_day,
    servable,
    shorten,
    token_bound,
    with_said_day,
)
from clawmem.serving.context.tiers import TITLES, TierCounts, tiers_of
from clawmem.serving.recall.conflicts import conflict_marks

LONGEST_QUOTE = 300


class UnitStyle(NamedTuple):
    """How to show facts: the catalog with the single-valued predicates, the moment for conflicts, and evidence."""

    catalog: Catalog
    moment: str
    evidence: bool = False


def fact_units(on: TierCounts, candidates: Sequence[FactCandidate], way: UnitStyle) -> list[Unit]:
    """Return a unit for each candidate, in order. Most units use the stored token count without reading the fact."""
    marked = conflict_marks(on.source, on.reader, way.catalog, way.moment, candidates)
    wordy = [one.n for one in candidates if way.evidence or one.n in marked]
    placed = dated_facts(on, wordy)
    days = days_of(on.source, [one.source_event or "" for one in placed.values()]) if way.evidence else {}
    shelf_of = tiers_of(on, {n for mark in marked.values() for n in mark.rivals})
    labels = scope_labels(on, [one.n for one in candidates])
    units = []
    for one in candidates:
        mark, label = marked.get(one.n), labels.get(one.n, "")
        named = token_bound(label_part(label)) if label else 0
        if mark is None and not way.evidence:
            exact = bool(one.exact) and not label
            units.append(Unit(one.n, one.tokens + named, exact, None, _shelves({one.n: one})))
            continue
        shown = {one.n: one, **{n: shelf_of[n] for n in (mark.rivals if mark else ()) if n in shelf_of}}
        below = (mark.text if mark else "") + (_evidence(placed[one.n], days) if way.evidence else "")
        text = context_line(placed[one.n], label) + below if below else None
        tokens = one.tokens + named + (token_bound(below) if below else 0)
        units.append(Unit(one.n, tokens, bool(one.exact) and not (below or label), text, _shelves(shown)))
    return units


def words_of(on: TierCounts, packed: PackedContext) -> Mapping[Key, str]:
    """Return the lines of the facts whose units have no text yet."""
    numbers = [unit.key for part in packed.sections for unit in part.units if unit.text is None]
    facts = dated_facts(on, [n for n in numbers if isinstance(n, int)])
    labels = scope_labels(on, facts)
    return {n: context_line(fact, labels.get(n, "")) for n, fact in facts.items()}


def scope_labels(on: TierCounts, numbers: Collection[int]) -> dict[int, str]:
    """Return the names of the projects and workflows of facts that are of another one than the query."""
    found = realms_of_work(on.source, numbers)
    return {n: label for n, realm in found.items() if (label := label_of(realm, on.reader.reach))}


def dated_facts(on: TierCounts, numbers: Sequence[int]) -> dict[int, Fact]:
    """Return the facts of some rows; a fact without a time of its own gets the day of its event."""
    facts = {n: one.fact for n, one in facts_in_rows(on.source, numbers, context_fact_from_row).items()}
    wanting = {n: fact.source_event for n, fact in facts.items() if fact.source_event and lacks_day(fact)}
    if wanting:
        days = days_of(on.source, list(wanting.values()))
        facts.update({n: with_said_day(facts[n], days[event]) for n, event in wanting.items() if event in days})
    return facts


def _shelves(shown: Mapping[int, FactCandidate]) -> tuple[tuple[Key, str], ...]:
    return tuple((n, TITLES.get(one.shelf, "")) for n, one in shown.items())


def _evidence(fact: Fact, days: Mapping[str, str]) -> str:
    """Return the quote, the event and its day, or an empty text if the fact has neither quote nor event."""
    if not fact.source_text and not fact.source_event:
        return ""
    day = servable(days.get(fact.source_event or "") or day_of(fact.timestamp))
    where = f"({servable(fact.source_event)}, {day})" if fact.source_event else f"({day})"
    quote = shorten(servable(fact.source_text or ""), LONGEST_QUOTE)
    return f'> "{quote}" {where}\n' if quote else f"> {where}\n"
