"""All facts of a vault merged: by id over every file, then what must hold for all of them together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from clawmem.model.facts.fact import Fact
from clawmem.model.history.comparison import bare, points_at
from clawmem.model.merging.facts.chains import Facts, close_replaced, without_circles
from clawmem.model.merging.facts.contradictions import Contradiction, contradictions, question_of, settle_values
from clawmem.model.merging.facts.duplicates import DuplicateFact, join_twins
from clawmem.model.merging.facts.fields import Order, merged_fact
from clawmem.model.merging.facts.rivals import SuccessorContest, contests, proposal_for, rivals, settle_contest
from clawmem.model.merging.facts.table import FiledFact, Shelves, shelved, table
from clawmem.model.merging.facts.values import MISSING, three_way
from clawmem.model.merging.facts.wordings import set_beside
from clawmem.model.merging.policy import SUCCESSORS, WORDING, MergeConflict, MergePolicy
from clawmem.model.proposals.proposal import Proposal


class MergedFacts(NamedTuple):
    """The facts of each file; what was in conflict, what a person is asked about it, which facts became one."""

    shelves: Mapping[str, tuple[Fact, ...]]
    conflicts: tuple[MergeConflict, ...] = ()
    questions: tuple[tuple[MergeConflict, Proposal], ...] = ()
    twins: tuple[DuplicateFact, ...] = ()


def merge_facts(base: Shelves, ours: Shelves, theirs: Shelves, policy: MergePolicy = MergePolicy()) -> MergedFacts:  # noqa: B008
    """Merge the facts of the files that differ anywhere; ids that mean two facts must have been renamed before."""
    known, mine, yours = table(base), table(ours), table(theirs)
    facts: Facts = {}
    conflicts = _merge_each(facts, known, mine, yours, policy)
    _bring_back(facts, known, mine, yours)
    conflicts += without_circles(facts, known)
    close_replaced(facts, (mine, yours))
    fresh = mine.keys() - known.keys(), yours.keys() - known.keys()
    twins = tuple(join_twins(facts, fresh[0] - fresh[1], fresh[1] - fresh[0]))
    conflicts += _settled(facts, contests(known, mine, yours), policy)
    found = list(_contradicting(facts, conflicts, (fresh[0] - fresh[1], fresh[1] - fresh[0]), policy))
    values = [(settle_values(facts, one, policy), one) for one in found]
    # A chain that a policy made may meet an older one.
    conflicts += without_circles(facts, known)
    asked = [(each, proposal_for(each, facts)) for each in conflicts]
    asked += [(each, question_of(each, one, facts)) for each, one in values]
    questions = tuple((conflict, proposal) for conflict, proposal in asked if proposal)
    conflicts += [each for each, _ in values]
    return MergedFacts(shelved(facts, base, ours, theirs), tuple(conflicts), questions, twins)


def _contradicting(
    facts: Facts, conflicts: Iterable[MergeConflict], fresh: tuple[set[str], set[str]], policy: MergePolicy
) -> Iterator[Contradiction]:
    """What contradicts each other and is not asked about already, as two successors of one fact."""
    asked = [
        {one.id for one in rivals(facts, conflict.fact or "")} for conflict in conflicts if conflict.kind == SUCCESSORS
    ]
    for one in contradictions(facts, *fresh, policy.single):
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
        joined = merged_fact(base.fact if base else None, one.fact, other.fact, order, policy.side)
        path = three_way(base.path if base else MISSING, one.path, other.path, max)
        facts[fact_id] = FiledFact(joined.fact, path)
        if joined.other is not None:
            conflicts.append(_beside(facts, joined.fact, joined.other, path, policy))
    return conflicts


def _order(*sides: Mapping[str, FiledFact]) -> Order:
    def order(fact_id: str) -> tuple[str, str]:
        times = [side[fact_id].fact.timestamp for side in sides if fact_id in side]
        return min(times, default=""), fact_id

    return order


def _beside(facts: Facts, kept: Fact, other: Fact, path: str, policy: MergePolicy) -> MergeConflict:
    """Keep the wording that lost: beside the other where a person decides, else in its chain."""
    beside_id = set_beside(facts, kept, other, path, closed=policy.side is not None)
    words = f"{beside_id} has the others"
    if policy.side is not None:
        words = f"{kept.id} has those of the side that wins, and {beside_id}, which it replaced, the others"
    return MergeConflict(WORDING, path, kept.id, f"both sides changed the words of {kept.id}; {words}")


def _bring_back(facts: Facts, known: Mapping[str, FiledFact], *sides: Mapping[str, FiledFact]) -> None:
    """Bring back what one side took out where something that stays points at it."""
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
