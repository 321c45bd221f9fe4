"""Facts in conflict with others or with an open proposal: the conflict is shown below each of them."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from clawmem.index.search.by_tier import rows_in_reach
from clawmem.index.search.channels import facts_in_rows
from clawmem.index.search.conflicts import conflicting_pairs
from clawmem.index.search.lookup import PlacedFact, context_fact_from_row
from clawmem.index.search.rival_values import oldest_first
from clawmem.index.tables.disputes import open_disputes
from clawmem.index.tables.store import Index
from clawmem.model.facts.catalog import Catalog
from clawmem.model.facts.labels import labels
from clawmem.model.facts.reach import scope_of
from clawmem.model.named_tuple import NamedTuple
from clawmem.model.pages.tokens import fact_dates, servable

if TYPE_CHECKING:
    from clawmem.index.search.by_tier import FactCandidate, ReaderScope

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
    ids = {one.n: one.id for one in candidates}
    against: dict[int, set[int]] = {}
    for one, other in conflicting_pairs(index, reader.owners, catalog, moment, ids):
        if one in ids:
            against.setdefault(one, set()).add(other)
    if reader.reach is not None and against:
        seen = rows_in_reach(index, reader.reach, {n for others in against.values() for n in others})
        against = {n: others & seen for n, others in against.items() if others & seen}
    waiting = open_disputes(index, set(ids.values()))
    places = oldest_first(index, {n for others in against.values() for n in others})
    spelled = {n: tuple(sorted(others, key=lambda other: places.get(other, 0))) for n, others in against.items()}
    shown = {n for one, others in spelled.items() for n in (one, *others[:SPELLED_OUT])}
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
