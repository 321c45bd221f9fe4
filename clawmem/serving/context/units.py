"""Facts as units of a context: one line each, with conflicts and, on request, evidence below.

A served context: its text with its size, from the lines that were packed.

Facts in conflict with others or with an open proposal: the conflict is shown below each of them.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate

from clawmem.index.search.by_tier import (
    ALWAYS,
    PAST,
    SPARE,
    FactCandidate,
    ReaderScope,
    candidates_in_rows,
    candidates_matching,
    candidates_with_ids,
    count_tiers,
    first_of_shelf,
    ids_always_hot,
    rows_in_reach,
)
from clawmem.index.search.channels import FactFilter, condition_of, facts_in_rows
from clawmem.index.search.conflicts import conflicting_pairs
from clawmem.index.search.events import days_of
from clawmem.index.search.listing import realms_of_work
from clawmem.index.search.lookup import PlacedFact
from clawmem.index.search.rival_values import oldest_first
from clawmem.index.tables.fact_marks import open_disputes, plain_importances
from clawmem.index.tables.store import Index
from clawmem.model.facts.catalog import Catalog
from clawmem.model.facts.fact import Fact
from clawmem.model.facts.fact_words import labels, person_of
from clawmem.model.facts.reach import label_of, scope_of
from clawmem.model.language.dates import day_of
from clawmem.model.language.text import shorten
from clawmem.model.lifecycle.tiers import COLD, HOT, SCORE_POLICY, WARM, policy_tier, recency_tier
from clawmem.model.named_tuple import NamedTuple
from clawmem.model.pages import context_frame as frame
from clawmem.model.pages.context_frame import ALWAYS as ALWAYS_TITLE
from clawmem.model.pages.context_frame import COLD_FACTS, HOT_FACTS, OVER_FACTS, WARM_FACTS
from clawmem.model.pages.packing import Key, PackedContext, Unit, render_context
from clawmem.model.pages.tokens import (
    context_line,
    fact_dates,
    label_part,
    lacks_day,
    servable,
    token_bound,
    with_said_day,
)
from clawmem.vault.state.journal import AccessCount

LONGEST_QUOTE = 300
TITLES: Mapping[str, str] = {ALWAYS: ALWAYS_TITLE, HOT: HOT_FACTS, WARM: WARM_FACTS, COLD: COLD_FACTS, PAST: OVER_FACTS}


class TierCounts(NamedTuple):
    """How many facts each tier has, and the facts whose tier or position differs from the index, in order.

    These are few: the facts in the access journal, whose accesses are `counted`. With `whole`, they are all facts of
    another time.
    """

    source: Index
    reader: ReaderScope
    totals: Mapping[str, int]
    moved: Mapping[int, FactCandidate]
    whole: bool = False
    counted: Mapping[str, AccessCount] = {}


def current_tiers(
    index: Index, reader: ReaderScope, counted: Mapping[str, AccessCount], of_question: bool = False
) -> TierCounts:
    """Return the current tiers; they contain only active facts. A context `of_question` lists only those always hot, so
    the tier of another fact is found when it is asked for."""
    always = ids_always_hot(index, reader) if of_question and reader.entity is None else None
    read = counted if always is None else counted.keys() & set(always)
    folded = [candidate for candidate in candidates_with_ids(index, reader, read) if candidate.shelf]
    if always is not None:
        folded = [candidate for candidate in folded if candidate.shelf == ALWAYS]
    moved = _moved(folded, counted, reader)
    totals = count_tiers(index, reader) if always is None else {ALWAYS: len(always)}
    for candidate in folded:
        totals[candidate.shelf] -= 1
        totals[moved[candidate.n].shelf] += 1
    return TierCounts(index, reader, totals, moved, counted=counted)


def tiers_at(index: Index, reader: ReaderScope, counted: Mapping[str, AccessCount], wanted: FactFilter) -> TierCounts:
    """Return the tiers with all facts that were true at another time, as known now."""
    then = candidates_matching(index, reader, *condition_of(wanted))
    moved = _moved(then, counted, reader)
    return TierCounts(index, reader, Counter(candidate.shelf for candidate in moved.values()), moved, whole=True)


def tiers_by(
    index: Index, reader: ReaderScope, counted: Mapping[str, AccessCount], policy: str, domain: tuple[str, ...] = ()
) -> TierCounts:
    """Return the current tiers by a policy of `tiers.policy`, in a domain of an agent. It reads a row of every fact."""
    wanted = FactFilter(reader.owners, reader.entity, domain=domain)
    every = candidates_matching(index, reader, *condition_of(wanted), then=False)
    active = [_accessed(candidate, counted, reader) for candidate in every if candidate.shelf]
    bases = plain_importances(index) if policy == SCORE_POLICY else {}
    moved = {
        candidate.n: candidate
        for candidate in _in_order([_by_policy(candidate, policy, reader, bases) for candidate in active])
    }
    return TierCounts(index, reader, Counter(candidate.shelf for candidate in moved.values()), moved, whole=True)


def _by_policy(candidate: FactCandidate, policy: str, reader: ReaderScope, bases: Mapping[str, float]) -> FactCandidate:
    if candidate.shelf in (ALWAYS, PAST):
        return candidate
    last = candidate.last_accessed or candidate.timestamp
    return candidate._replace(
        shelf=policy_tier(policy, bases.get(candidate.id, candidate.weight), candidate.access_count, last, reader.now)
    )


def without_facts(on: TierCounts, ids: Sequence[str]) -> TierCounts:
    """Return the tiers without some facts."""
    hidden = candidates_of(on, ids)
    totals = Counter(on.totals)
    totals.subtract(candidate.shelf for candidate in hidden)
    moved = {**on.moved, **{candidate.n: candidate._replace(shelf="") for candidate in hidden}}
    return on._replace(totals=totals, moved=moved)


def first_of_tier(on: TierCounts, shelf: str, tokens: int) -> Sequence[FactCandidate]:
    """Return the first facts of a tier: the agent's own, then most accessed, most important, newest.

    The number of facts is enough for `tokens`, plus a reserve.
    """
    here = _within([candidate for candidate in on.moved.values() if candidate.shelf == shelf], tokens)
    if on.whole:
        return here
    found = first_of_shelf(on.source, on.reader, shelf, tokens, {candidate.id for candidate in on.moved.values()})
    return _within(_in_order([*found, *here]), tokens) if here else found


def _within(candidates: Sequence[FactCandidate], tokens: int) -> Sequence[FactCandidate]:
    for at, spent in enumerate(accumulate(candidate.tokens for candidate in candidates)):
        if spent > tokens:
            return candidates[: at + 1 + SPARE]
    return candidates


def tiers_of(on: TierCounts, numbers: Collection[int]) -> dict[int, FactCandidate]:
    """Return some rows as candidates with their tiers, without those that may not be shown."""
    if on.whole:
        return {n: on.moved[n] for n in numbers if n in on.moved}
    found = (_current(on, candidate) for candidate in candidates_in_rows(on.source, on.reader, numbers))
    return {candidate.n: candidate for candidate in found if candidate.shelf or candidate.n not in on.moved}


def candidates_of(on: TierCounts, ids: Sequence[str]) -> list[FactCandidate]:
    """Return the candidates with some ids, in the order of the ids."""
    chosen = on.moved.values() if on.whole else candidates_with_ids(on.source, on.reader, ids)
    by_id = {candidate.id: _current(on, candidate) for candidate in chosen}
    return [by_id[identifier] for identifier in ids if identifier in by_id]


def _current(on: TierCounts, candidate: FactCandidate) -> FactCandidate:
    return on.moved.get(candidate.n) or _accessed(candidate, on.counted, on.reader)


def _moved(
    candidates: Sequence[FactCandidate], counted: Mapping[str, AccessCount], reader: ReaderScope
) -> dict[int, FactCandidate]:
    return {
        candidate.n: candidate
        for candidate in _in_order([_accessed(candidate, counted, reader) for candidate in candidates])
    }


def _accessed(candidate: FactCandidate, counted: Mapping[str, AccessCount], reader: ReaderScope) -> FactCandidate:
    access = counted.get(candidate.id)
    if access is None or not candidate.shelf:
        return candidate
    last = max(access.last, candidate.last_accessed or "")
    count = candidate.access_count + access.count
    shelf = candidate.shelf if candidate.shelf in (ALWAYS, PAST) else _tier(last, count, reader.now)
    return FactCandidate(*candidate[:5], count, *candidate[6:8], last, shelf)


# One search shows many facts of one moment, so the tiers are cached.
_tier = lru_cache(recency_tier)


def _in_order(candidates: Sequence[FactCandidate]) -> list[FactCandidate]:
    # The order of `ranking.ordered` for facts of one tier. After a merge by hand, two files may contain the same id, so
    # the row number decides between them.
    by_id = sorted(candidates, key=lambda candidate: (candidate.id, candidate.n))
    newest = sorted(by_id, key=lambda candidate: candidate.timestamp, reverse=True)
    return sorted(newest, key=lambda candidate: (not candidate.owner, -candidate.access_count, -candidate.weight))


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
            shelves = ((candidate.n, TITLES.get(candidate.shelf, "")),)
            units.append(Unit(candidate.n, candidate.tokens + named, exact, None, shelves))
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
    facts = {n: placed.fact for n, placed in facts_in_rows(on.source, numbers).items()}
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
    placed = facts_in_rows(index, sorted(shown))
    found = {}
    for n, fact_id in ids.items():
        if n in spelled or fact_id in waiting:
            found[n] = _mark(n, fact_id, FactConflict(spelled.get(n, ()), tuple(waiting.get(fact_id, ()))), placed)
    return found


def _mark(n: int, fact_id: str, conflict: FactConflict, placed: Mapping[int, PlacedFact]) -> ConflictMark:
    spelled = tuple(other for other in conflict.rivals[:SPELLED_OUT] if other in placed)
    source = f", from {_source(placed[n].fact)}" if n in placed else ""
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
    remark = "".join(f", {label}" for label in labels(rival.fact) if label != person_of(rival.fact))
    scope = scope_of(rival.fact)
    remark = f", scope {scope}{remark}" if scope else remark
    origin = f"{fact_dates(rival.fact)}, {rival.fact.id}, from {_source(rival.fact)}{remark}"
    return f"! In conflict with the line above ({named}), not settled: {servable(rival.fact.fact)} ({origin})\n"


def _source(fact: Fact) -> str:
    return servable(person_of(fact) or fact.source)
