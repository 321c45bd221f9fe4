"""Facts as units of a context: one line each, with conflicts and, on request, evidence below.

A served context: its text with its size, from the lines that were packed.

Facts in conflict with others or with an open proposal: the conflict is shown below each of them.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from clawmem.index.search.by_tier import FactCandidate, rows_in_reach
from clawmem.index.search.channels import facts_in_rows
from clawmem.index.search.conflicts import conflicting_pairs
from clawmem.index.search.lookup import PlacedFact, context_fact_from_row
from clawmem.index.search.notes import days_of
from clawmem.index.search.rival_values import oldest_first
from clawmem.index.search.scoped import realms_of_work
from clawmem.index.tables.disputes import open_disputes
from clawmem.index.tables.store import Index
from clawmem.model.facts.catalog import Catalog
from clawmem.model.facts.fact import Fact
from clawmem.model.facts.labels import labels
from clawmem.model.facts.reach import label_of, scope_of
from clawmem.model.language.dates import day_of
from clawmem.model.named_tuple import NamedTuple
from clawmem.model.pages import context_frame as frame
from clawmem.model.pages.packing import Key, PackedContext, Unit, render_context
from clawmem.model.pages.tokens import (
    context_line,
    fact_dates,
    label_part,
    lacks_day,
    servable,
    shorten,
    token_bound,
    with_said_day,
)
from clawmem.serving.context.tiers import TITLES, TierCounts, tiers_of

if TYPE_CHECKING:
    from clawmem.index.search.by_tier import FactCandidate, ReaderScope


LONGEST_QUOTE = 300


class UnitStyle(NamedTuple):
    """How to show facts: the catalog with the single-valued predicates, the moment for conflicts, and evidence."""

    catalog: Catalog
    moment: str
    evidence: bool = False


def fact_units(on: TierCounts, candidates: Sequence[FactCandidate], way: UnitStyle) -> list[Unit]:
    """Return a unit for each candidate, in order. Most units use the stored token count without reading the fact."""
    marked = conflict_marks(on.source, on.reader, way.catalog, way.moment, candidates)
    wordy = [candidate.n for candidate in candidates if way.evidence or candidate.n in marked]
    placed = dated_facts(on, wordy)
    days = days_of(on.source, [fact.source_event or "" for fact in placed.values()]) if way.evidence else {}
    shelf_of = tiers_of(on, {n for mark in marked.values() for n in mark.rivals})
    labels = scope_labels(on, [candidate.n for candidate in candidates])
    units = []
    for candidate in candidates:
        mark, label = marked.get(candidate.n), labels.get(candidate.n, "")
        named = token_bound(label_part(label)) if label else 0
        if mark is None and not way.evidence:
            exact = bool(candidate.exact) and not label
            units.append(Unit(candidate.n, candidate.tokens + named, exact, None, _shelves({candidate.n: candidate})))
            continue
        shown = {candidate.n: candidate, **{n: shelf_of[n] for n in (mark.rivals if mark else ()) if n in shelf_of}}
        below = (mark.text if mark else "") + (_evidence(placed[candidate.n], days) if way.evidence else "")
        text = context_line(placed[candidate.n], label) + below if below else None
        tokens = candidate.tokens + named + (token_bound(below) if below else 0)
        units.append(Unit(candidate.n, tokens, bool(candidate.exact) and not (below or label), text, _shelves(shown)))
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
    facts = {n: placed.fact for n, placed in facts_in_rows(on.source, numbers, context_fact_from_row).items()}
    wanting = {n: fact.source_event for n, fact in facts.items() if fact.source_event and lacks_day(fact)}
    if wanting:
        days = days_of(on.source, list(wanting.values()))
        facts.update({n: with_said_day(facts[n], days[event]) for n, event in wanting.items() if event in days})
    return facts


def _shelves(shown: Mapping[int, FactCandidate]) -> tuple[tuple[Key, str], ...]:
    return tuple((n, TITLES.get(candidate.shelf, "")) for n, candidate in shown.items())


def _evidence(fact: Fact, days: Mapping[str, str]) -> str:
    """Return the quote, the event and its day, or an empty text if the fact has neither quote nor event."""
    if not fact.source_text and not fact.source_event:
        return ""
    day = servable(days.get(fact.source_event or "") or day_of(fact.timestamp))
    where = f"({servable(fact.source_event)}, {day})" if fact.source_event else f"({day})"
    quote = shorten(servable(fact.source_text or ""), LONGEST_QUOTE)
    return f'> "{quote}" {where}\n' if quote else f"> {where}\n"


_COUNTED_BY = {True: "exact", None: "mixed", False: "upper bound"}


class ItemReason(NamedTuple):
    """Why a fact is in a context: its section and scope, its score with the factors, and the pass that found it.

    `via` is the fact that names what this one is about, if a further pass of a question found it."""

    id: str
    section: str
    scope: str | None
    score: float
    factors: Mapping[str, float]
    at_pass: int
    via: str | None = None


class ContextResult(NamedTuple):
    """The text and its size.

    `counted_by` says how tokens were counted (exact, mixed, upper bound). `facts` are the ids in the text, and
    `left_out` is the number of omitted lines for each section. `explained` says why the facts of the query's scope are
    in it, and those that a further pass found.
    """

    text: str
    tokens: int
    counted_by: str
    facts: tuple[str, ...]
    left_out: tuple[tuple[str, int], ...]
    notices: tuple[str, ...] = ()
    explained: tuple[ItemReason, ...] = ()


def context_result(on: TierCounts, packed: PackedContext, notices: tuple[str, ...]) -> tuple[ContextResult, list[str]]:
    """Return the context, and the ids of the facts in it that answer the question."""
    shown = {part.title: [n for unit in part.units for n, _ in unit.shelves] for part in packed.sections}
    placed = tiers_of(on, {n for numbers in shown.values() for n in numbers if isinstance(n, int)})
    ids = {title: [placed[n].id for n in numbers if n in placed] for title, numbers in shown.items()}
    titles = (frame.ASKED, frame.TIMELINE, frame.CONNECTED)
    answering = [identifier for title in titles for identifier in ids.get(title, ())]
    left_out = tuple((part.title, part.left_out) for part in packed.sections if part.left_out)
    facts = tuple(dict.fromkeys(name for part in ids.values() for name in part))
    text = render_context(packed, words_of(on, packed))
    return ContextResult(text, packed.tokens, _COUNTED_BY[packed.exact], facts, left_out, notices), answering


SPELLED_OUT = 3


class FactConflict(NamedTuple):
    """The conflicts of a fact: rows of other facts, and open proposals with their texts."""

    rivals: tuple[int, ...] = ()
    proposals: tuple[tuple[str, str], ...] = ()


class ConflictMark(NamedTuple):
    """Lines about the conflicts of a fact, and the rows of the facts in these lines."""

    text: str
    rivals: tuple[int, ...]


def conflict_marks(
    index: Index, reader: "ReaderScope", catalog: Catalog, moment: str, candidates: "Sequence[FactCandidate]"
) -> dict[int, ConflictMark]:
    """Return the lines to show below facts that are in conflict at a moment, by row."""
    ids = {candidate.n: candidate.id for candidate in candidates}
    against: dict[int, set[int]] = {}
    for number, other in conflicting_pairs(index, reader.owners, catalog, moment, ids):
        if number in ids:
            against.setdefault(number, set()).add(other)
    if reader.reach is not None and against:
        seen = rows_in_reach(index, reader.reach, {n for others in against.values() for n in others})
        against = {n: others & seen for n, others in against.items() if others & seen}
    waiting = open_disputes(index, set(ids.values()))
    places = oldest_first(index, {n for others in against.values() for n in others})
    spelled = {n: tuple(sorted(others, key=lambda other: places.get(other, 0))) for n, others in against.items()}
    shown = {n for number, others in spelled.items() for n in (number, *others[:SPELLED_OUT])}
    shown |= {n for n, fact_id in ids.items() if fact_id in waiting}
    placed = facts_in_rows(index, sorted(shown), context_fact_from_row)
    found = {}
    for n, fact_id in ids.items():
        if n in spelled or fact_id in waiting:
            found[n] = _mark(n, fact_id, FactConflict(spelled.get(n, ()), tuple(waiting.get(fact_id, ()))), placed)
    return found


def _mark(n: int, fact_id: str, conflict: FactConflict, placed: Mapping[int, PlacedFact]) -> ConflictMark:
    spelled = tuple(other for other in conflict.rivals[:SPELLED_OUT] if other in placed)
    source = f", from {servable(placed[n].fact.source)}" if n in placed else ""
    lines = [_against(f"{fact_id}{source}", placed[other]) for other in spelled]
    if rest := len(conflict.rivals) - len(spelled):
        where = f"show them with `clawmem list --entity {placed[conflict.rivals[0]].entity}`"
        lines.append(f"! In conflict with {rest} more; {where}\n")
    for proposal, says in conflict.proposals:
        # The values are in the lines above already.
        words = "" if spelled else f": {servable(says)}"
        above = "" if spelled or not source else f"; the line above is{source.removeprefix(',')}"
        lines.append(f"! Waits for a person to decide{words} (`clawmem review show {proposal}`{above})\n")
    return ConflictMark("".join(lines), spelled)


def _against(named: str, rival: PlacedFact) -> str:
    """Return the line about a rival of the fact above. `named` is the id of that fact and its source."""
    remark = "".join(f", {label}" for label in labels(rival.fact))
    scope = scope_of(rival.fact)
    remark = f", scope {scope}{remark}" if scope else remark
    origin = f"{fact_dates(rival.fact)}, {rival.fact.id}, from {servable(rival.fact.source)}{remark}"
    return f"! In conflict with the line above ({named}), not settled: {servable(rival.fact.fact)} ({origin})\n"
