"""The shelves a context is filled from: always, hot, warm, cold, past; accesses that no commit holds yet counted in."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

from clawmem.index.channels import Filter, condition_of
from clawmem.index.standing import (
    ALWAYS,
    PAST,
    SPARE,
    Candidate,
    Reader,
    count_tiers,
    in_rows,
    nearest,
    true_then,
    with_ids,
)
from clawmem.index.store import Index
from clawmem.model.frame import ALWAYS as ALWAYS_TITLE
from clawmem.model.frame import COLD_FACTS, HOT_FACTS, OVER_FACTS, WARM_FACTS
from clawmem.model.tiers import COLD, HOT, WARM, recency_tier
from clawmem.vault.journal import Access

TITLES: Mapping[str, str] = {ALWAYS: ALWAYS_TITLE, HOT: HOT_FACTS, WARM: WARM_FACTS, COLD: COLD_FACTS, PAST: OVER_FACTS}


class Shelves(NamedTuple):
    """How many facts are on each shelf, and those whose place is not the one that the index knows, in their order:
    few of them, because few are in the journal of accesses, or `whole`, where all facts of another time had to be
    read."""

    source: Index
    reader: Reader
    totals: Mapping[str, int]
    moved: Mapping[int, Candidate]
    whole: bool = False


def shelves(index: Index, reader: Reader, counted: Mapping[str, Access]) -> Shelves:
    """The shelves as they stand now: only what is active is on one."""
    folded = [one for one in with_ids(index, reader, counted) if one.shelf]
    moved = _moved(folded, counted, reader)
    totals = count_tiers(index, reader)
    for one in folded:
        totals[one.shelf] -= 1
        totals[moved[one.n].shelf] += 1
    return Shelves(index, reader, totals, moved)


def shelves_then(index: Index, reader: Reader, counted: Mapping[str, Access], wanted: Filter) -> Shelves:
    """The shelves with all that was true at another time, as we know now."""
    then = true_then(index, reader, *condition_of(wanted))
    moved = _moved(then, counted, reader)
    return Shelves(index, reader, Counter(one.shelf for one in moved.values()), moved, whole=True)


def first(on: Shelves, shelf: str, tokens: int) -> Sequence[Candidate]:
    """The first facts of a shelf in their order of standing, the agent's own, most accessed, most important, newest:
    as many as so many tokens could hold, and some more."""
    here = _within([one for one in on.moved.values() if one.shelf == shelf], tokens)
    if on.whole:
        return here
    found = nearest(on.source, on.reader, shelf, tokens, {one.id for one in on.moved.values()})
    return _within(_in_order([*found, *here]), tokens) if here else found


def _within(candidates: Sequence[Candidate], tokens: int) -> Sequence[Candidate]:
    for at, spent in enumerate(accumulate(one.tokens for one in candidates)):
        if spent > tokens:
            return candidates[: at + 1 + SPARE]
    return candidates


def places(on: Shelves, numbers: Collection[int]) -> dict[int, Candidate]:
    """Some rows as candidates with the shelves they are on; those that may not be shown are left out."""
    if on.whole:
        return {n: on.moved[n] for n in numbers if n in on.moved}
    return {one.n: on.moved.get(one.n, one) for one in in_rows(on.source, on.reader, numbers)}


def found(on: Shelves, ids: Sequence[str]) -> list[Candidate]:
    """The candidates of some ids, in that order."""
    chosen = on.moved.values() if on.whole else with_ids(on.source, on.reader, ids)
    by_id = {one.id: on.moved.get(one.n, one) for one in chosen}
    return [by_id[one] for one in ids if one in by_id]


def _moved(candidates: Sequence[Candidate], counted: Mapping[str, Access], reader: Reader) -> dict[int, Candidate]:
    return {one.n: one for one in _in_order([_accessed(one, counted, reader) for one in candidates])}


def _accessed(one: Candidate, counted: Mapping[str, Access], reader: Reader) -> Candidate:
    access = counted.get(one.id)
    if access is None:
        return one
    last = max(access.last, one.last_accessed or "")
    count = one.access_count + access.count
    shelf = one.shelf if one.shelf in (ALWAYS, PAST) else _tier(last, count, reader.now)
    return Candidate(one.n, one.tokens, one.exact, one.id, one.owner, count, one.weight, one.timestamp, last, shelf)


# One search shows many facts at one moment.
_tier = lru_cache(recency_tier)


def _in_order(candidates: Sequence[Candidate]) -> list[Candidate]:
    # As `ranking.ordered` does it for facts of one tier. Two files may hold the same id after a merge by hand: the row
    # keeps them apart.
    by_id = sorted(candidates, key=lambda one: (one.id, one.n))
    newest = sorted(by_id, key=lambda one: one.timestamp, reverse=True)
    return sorted(newest, key=lambda one: (not one.owner, -one.access_count, -one.weight))
