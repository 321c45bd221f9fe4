"""The tiers that a context is filled from (always, hot, warm, cold, past), with uncommitted accesses counted."""

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
)
from clawmem.index.search.channels import FactFilter, condition_of
from clawmem.index.tables.accesses import plain_importances
from clawmem.index.tables.store import Index
from clawmem.model.lifecycle.tiers import COLD, HOT, SCORE_POLICY, WARM, policy_tier, recency_tier
from clawmem.model.named_tuple import NamedTuple
from clawmem.model.pages.context_frame import ALWAYS as ALWAYS_TITLE
from clawmem.model.pages.context_frame import COLD_FACTS, HOT_FACTS, OVER_FACTS, WARM_FACTS
from clawmem.vault.state.journal import AccessCount

TITLES: Mapping[str, str] = {ALWAYS: ALWAYS_TITLE, HOT: HOT_FACTS, WARM: WARM_FACTS, COLD: COLD_FACTS, PAST: OVER_FACTS}


class TierCounts(NamedTuple):
    """How many facts each tier has, and the facts whose tier or position differs from the index, in order.

    These are few: the facts in the access journal. With `whole`, they are all facts of another time.
    """

    source: Index
    reader: ReaderScope
    totals: Mapping[str, int]
    moved: Mapping[int, FactCandidate]
    whole: bool = False


def current_tiers(index: Index, reader: ReaderScope, counted: Mapping[str, AccessCount]) -> TierCounts:
    """Return the current tiers; they contain only active facts."""
    folded = [candidate for candidate in candidates_with_ids(index, reader, counted) if candidate.shelf]
    moved = _moved(folded, counted, reader)
    totals = count_tiers(index, reader)
    for candidate in folded:
        totals[candidate.shelf] -= 1
        totals[moved[candidate.n].shelf] += 1
    return TierCounts(index, reader, totals, moved)


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
    found = (on.moved.get(candidate.n, candidate) for candidate in candidates_in_rows(on.source, on.reader, numbers))
    return {candidate.n: candidate for candidate in found if candidate.shelf or candidate.n not in on.moved}


def candidates_of(on: TierCounts, ids: Sequence[str]) -> list[FactCandidate]:
    """Return the candidates with some ids, in the order of the ids."""
    chosen = on.moved.values() if on.whole else candidates_with_ids(on.source, on.reader, ids)
    by_id = {candidate.id: on.moved.get(candidate.n, candidate) for candidate in chosen}
    return [by_id[identifier] for identifier in ids if identifier in by_id]


def _moved(
    candidates: Sequence[FactCandidate], counted: Mapping[str, AccessCount], reader: ReaderScope
) -> dict[int, FactCandidate]:
    return {
        candidate.n: candidate
        for candidate in _in_order([_accessed(candidate, counted, reader) for candidate in candidates])
    }


def _accessed(candidate: FactCandidate, counted: Mapping[str, AccessCount], reader: ReaderScope) -> FactCandidate:
    access = counted.get(candidate.id)
    if access is None:
        return candidate
    last = max(access.last, candidate.last_accessed or "")
    count = candidate.access_count + access.count
    shelf = candidate.shelf if candidate.shelf in (ALWAYS, PAST) else _tier(last, count, reader.now)
    return FactCandidate(
        candidate.n,
        candidate.tokens,
        candidate.exact,
        candidate.id,
        candidate.owner,
        count,
        candidate.weight,
        candidate.timestamp,
        last,
        shelf,
    )


# One search shows many facts of one moment, so the tiers are cached.
_tier = lru_cache(recency_tier)


def _in_order(candidates: Sequence[FactCandidate]) -> list[FactCandidate]:
    # The order of `ranking.ordered` for facts of one tier. After a merge by hand, two files may contain the same id, so
    # the row number decides between them.
    by_id = sorted(candidates, key=lambda candidate: (candidate.id, candidate.n))
    newest = sorted(by_id, key=lambda candidate: candidate.timestamp, reverse=True)
    return sorted(newest, key=lambda candidate: (not candidate.owner, -candidate.access_count, -candidate.weight))
