"""Merge all facts of a vault: first by id across files, then the rules that involve several facts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from clawmem.model.facts.fact import Fact
from clawmem.model.history.comparison import bare, points_at
from clawmem.model.merging.facts.chains import Facts, break_circles, close_replaced
from clawmem.model.merging.facts.contradictions import (
    Contradiction,
    contradiction_proposal,
    find_contradictions,
    settle_values,
)
from clawmem.model.merging.facts.duplicates import DuplicateFact, join_duplicates
from clawmem.model.merging.facts.fields import SuccessorOrder, merge_fact
from clawmem.model.merging.facts.rivals import (
    SuccessorContest,
    conflict_proposal,
    current_rivals,
    find_contests,
    settle_contest,
)
from clawmem.model.merging.facts.table import FactsByPath, FiledFact, facts_by_id, facts_by_path
from clawmem.model.merging.facts.values import MISSING, three_way
from clawmem.model.merging.facts.wordings import add_wording
from clawmem.model.merging.policy import SUCCESSORS, WORDING, MergeConflict, MergePolicy
from clawmem.model.proposals.proposal import Proposal


class MergedFacts(NamedTuple):
    """The facts of each file, the conflicts, the questions for a person, and the equal facts that were joined."""

    shelves: Mapping[str, tuple[Fact, ...]]
    conflicts: tuple[MergeConflict, ...] = ()
    questions: tuple[tuple[MergeConflict, Proposal], ...] = ()
    twins: tuple[DuplicateFact, ...] = ()


def merge_facts(
    base: FactsByPath,
    ours: FactsByPath,
    theirs: FactsByPath,
    policy: MergePolicy = MergePolicy(),  # noqa: B008
) -> MergedFacts:
    """Merge the facts of all files that differ on any side; rename colliding ids before calling this."""
    known, mine, yours = facts_by_id(base), facts_by_id(ours), facts_by_id(theirs)
    facts: Facts = {}
    conflicts = _merge_each(facts, known, mine, yours, policy)
    _bring_back(facts, known, mine, yours)
    conflicts += break_circles(facts, known)
    close_replaced(facts, (mine, yours))
    fresh = mine.keys() - known.keys(), yours.keys() - known.keys()
    twins = tuple(join_duplicates(facts, fresh[0] - fresh[1], fresh[1] - fresh[0]))
    conflicts += _settled(facts, find_contests(known, mine, yours), policy)
    found = list(_contradicting(facts, conflicts, (fresh[0] - fresh[1], fresh[1] - fresh[0]), policy))
    values = [(settle_values(facts, one, policy), one) for one in found]
    # A chain that a policy created may form a circle with an older one.
    conflicts += break_circles(facts, known)
    asked = [(each, conflict_proposal(each, facts)) for each in conflicts]
    asked += [(each, contradiction_proposal(each, one, facts)) for each, one in values]
    questions = tuple((conflict, proposal) for conflict, proposal in asked if proposal)
    conflicts += [each for each, _ in values]
    return MergedFacts(facts_by_path(facts, base, ours, theirs), tuple(conflicts), questions, twins)


def _contradicting(
    facts: Facts, conflicts: Iterable[MergeConflict], fresh: tuple[set[str], set[str]], policy: MergePolicy
) -> Iterator[Contradiction]:
    """Yield the contradictions that no question about successors covers already."""
    asked = [
        {one.id for one in current_rivals(facts, conflict.fact or "")}
        for conflict in conflicts
        if conflict.kind == SUCCESSORS
    ]
    for one in find_contradictions(facts, *fresh, policy):
        if not any({*one.mine, *one.yours} <= known for known in asked):
            yield one


def _merge_each(
    facts: Facts,
    known: Mapping[str, FiledFact],
    mine: Mapping[str, FiledFact],
    yours: Mapping[str, FiledFact],
    policy: MergePolicy,
) -> list[MergeConflict]:
    conflicts = []
    order = _order(mine, yours)
    for fact_id in sorted({*mine, *yours}):
        base, one, other = known.get(fact_id), mine.get(fact_id), yours.get(fact_id)
        if one is None or other is None:
            left = one or other
            if left is not None and (base is None or bare(left.fact) != bare(base.fact)):
                facts[fact_id] = left
            continue
        joined = merge_fact(base.fact if base else None, one.fact, other.fact, order, policy.side)
        path = three_way(base.path if base else MISSING, one.path, other.path, max)
        facts[fact_id] = FiledFact(joined.fact, path)
        if joined.other is not None:
            conflicts.append(_beside(facts, joined.fact, joined.other, path, policy))
    return conflicts


def _order(*sides: Mapping[str, FiledFact]) -> SuccessorOrder:
    def order(fact_id: str) -> tuple[str, str]:
        times = [side[fact_id].fact.timestamp for side in sides if fact_id in side]
        return min(times, default=""), fact_id

    return order


def _beside(facts: Facts, kept: Fact, other: Fact, path: str, policy: MergePolicy) -> MergeConflict:
    """Keep the losing wording: as a current fact if a person decides, else as a superseded one."""
    beside_id = add_wording(facts, kept, other, path, closed=policy.side is not None)
    words = f"{beside_id} has the other wording"
    if policy.side is not None:
        words = f"{kept.id} has the winning wording and replaced {beside_id}, which has the other one"
    return MergeConflict(WORDING, path, kept.id, f"both sides changed the wording of {kept.id}; {words}")


def _bring_back(facts: Facts, known: Mapping[str, FiledFact], *sides: Mapping[str, FiledFact]) -> None:
    """Restore facts that one side removed but that a remaining fact refers to."""
    waiting: list[Fact] = [one.fact for one in facts.values()]
    while waiting:
        for target in sorted(points_at(waiting.pop())):
            held = next((side[target] for side in sides if target in side), None)
            if target not in facts and target in known and held is not None:
                facts[target] = held
                waiting.append(held.fact)


def _settled(facts: Facts, found: Iterable[SuccessorContest], policy: MergePolicy) -> list[MergeConflict]:
    settled = (settle_contest(facts, one, policy) for one in list(found))
    return [one for one in settled if one is not None]
