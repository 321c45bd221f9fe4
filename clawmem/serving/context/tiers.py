"""The shelves a context is filled from: always, hot, warm, cold, past; accesses that no commit holds yet counted in."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

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
)
from clawmem.index.search.channels import FactFilter, condition_of
from clawmem.index.tables.store import Index
from clawmem.model.lifecycle.tiers import COLD, HOT, WARM, recency_tier
from clawmem.model.pages.context_frame import ALWAYS as ALWAYS_TITLE
from clawmem.model.pages.context_frame import COLD_FACTS, HOT_FACTS, OVER_FACTS, WARM_FACTS
from clawmem.vault.state.journal import AccessCount

TITLES: Mapping[str, str] = {ALWAYS: ALWAYS_TITLE, HOT: HOT_FACTS, WARM: WARM_FACTS, COLD: COLD_FACTS, PAST: OVER_FACTS}


class TierCounts(NamedTuple):
    """How many facts are on each shelf, and those whose place is not the one that the index knows, in their order:
    few of them, because few are in the journal of accesses, or `whole`, where all facts of another time had to be
    read."""

    source: Index
    reader: ReaderScope
    totals: Mapping[str, int]
    moved: Mapping[int, FactCandidate]
    whole: bool = False


def shelves(index: Index, reader: ReaderScope, counted: Mapping[str, AccessCount]) -> TierCounts:
    """The shelves as they stand now: only what is active is on one."""
    folded = [one for one in candidates_with_ids(index, reader, counted) if one.shelf]
    moved = _moved(folded, counted, reader)
    totals = count_tiers(index, reader)
    for one in folded:
        totals[one.shelf] -= 1
        totals[moved[one.n].shelf] += 1
    return TierCounts(index, reader, totals, moved)


def shelves_then(
    index: Index, reader: ReaderScope, counted: Mapping[str, AccessCount], wanted: FactFilter
) -> TierCounts:
    """The shelves with all that was true at another time, as we know now."""
    then = candidates_matching(index, reader, *condition_of(wanted))
    moved = _moved(then, counted, reader)
    return TierCounts(index, reader, Counter(one.shelf for one in moved.values()), moved, whole=True)


def first(on: TierCounts, shelf: str, tokens: int) -> Sequence[FactCandidate]:
    """The first facts of a shelf in their order of standing, the agent's own, most accessed, most important, newest:
    as many as so many tokens could hold, and some more."""
    here = _within([one for one in on.moved.values() if one.shelf == shelf], tokens)
    if on.whole:
        return here
    found = first_of_shelf(on.source, on.reader, shelf, tokens, {one.id for one in on.moved.values()})
    return _within(_in_order([*found, *here]), tokens) if here else found


def _within(candidates: Sequence[FactCandidate], tokens: int) -> Sequence[FactCandidate]:
    for at, spent in enumerate(accumulate(one.tokens for one in candidates)):
        if spent > tokens:
            return candidates[: at + 1 + SPARE]
    return candidates


def places(on: TierCounts, numbers: Collection[int]) -> dict[int, FactCandidate]:
    """Some rows as candidates with the shelves they are on; those that may not be shown are left out."""
    if on.whole:
        return {n: on.moved[n] for n in numbers if n in on.moved}
    return {one.n: on.moved.get(one.n, one) for one in candidates_in_rows(on.source, on.reader, numbers)}


def found(on: TierCounts, ids: Sequence[str]) -> list[FactCandidate]:
    """The candidates of some ids, in that order."""
    chosen = on.moved.values() if on.whole else candidates_with_ids(on.source, on.reader, ids)
    by_id = {one.id: on.moved.get(one.n, one) for one in chosen}
    return [by_id[one] for one in ids if one in by_id]


def _moved(
    candidates: Sequence[FactCandidate], counted: Mapping[str, AccessCount], reader: ReaderScope
) -> dict[int, FactCandidate]:
    return {one.n: one for one in _in_order([_accessed(one, counted, reader) for one in candidates])}


def _accessed(one: FactCandidate, counted: Mapping[str, AccessCount], reader: ReaderScope) -> FactCandidate:
    access = counted.get(one.id)
    if access is None:
        return one
    last = max(access.last, one.last_accessed or "")
    count = one.access_count + access.count
    shelf = one.shelf if one.shelf in (ALWAYS, PAST) else _tier(last, count, reader.now)
    return FactCandidate(one.n, one.tokens, one.exact, one.id, one.owner, count, one.weight, one.timestamp, last, shelf)


# One search shows many facts at one moment.
_tier = lru_cache(recency_tier)


def _in_order(candidates: Sequence[FactCandidate]) -> list[FactCandidate]:
    # As `ranking.ordered` does it for facts of one tier. Two files may hold the same id after a merge by hand: the row
    # keeps them apart.
    by_id = sorted(candidates, key=lambda one: (one.id, one.n))
    newest = sorted(by_id, key=lambda one: one.timestamp, reverse=True)
    return sorted(newest, key=lambda one: (not one.owner, -one.access_count, -one.weight))
