"""Merge all facts of a vault: first by id across files, then the rules that involve several facts.

Join equal facts that two machines learned: one stays current, and the others point to it.

Find and settle different values that two machines learned for a relation that takes only one value.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import product
from typing import NamedTuple

from clawmem.model.facts.fact import SUPERSEDED, Fact, FactLink, trust_rank
from clawmem.model.facts.gates import DECISION, goes_against
from clawmem.model.facts.reach import realm_of
from clawmem.model.facts.stated_value import SinglePhrase, StatedValue, are_rivals, hold_together, stated_value
from clawmem.model.history.comparison import bare, points_at
from clawmem.model.language.text import all_of, normal
from clawmem.model.merging.collisions import (
    Facts,
    FactsByPath,
    FiledFact,
    add_wording,
    break_circles,
    close_replaced,
    conflict_proposal,
    current_rivals,
    facts_by_id,
    facts_by_path,
    find_contests,
    may_win,
    replace_fact,
    settle_contest,
    supersede_all,
    supersede_proposal,
)
from clawmem.model.merging.fields import (
    MISSING,
    NEWEST,
    OURS,
    SUCCESSORS,
    VALUES,
    WORDING,
    MergeConflict,
    MergePolicy,
    SuccessorOrder,
    merge_fact,
    merge_links,
    most,
    three_way,
)
from clawmem.model.proposals.proposal import Proposal
from clawmem.model.records.entity import name_of_path
from clawmem.model.records.event import MARK


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
    conflicts += link_rival_decisions(facts, fresh[0] - fresh[1], fresh[1] - fresh[0])
    settled = (settle_contest(facts, contest, policy) for contest in list(find_contests(known, mine, yours)))
    conflicts += filter(None, settled)
    found = list(_contradicting(facts, conflicts, (fresh[0] - fresh[1], fresh[1] - fresh[0]), policy))
    values = [(settle_values(facts, contradiction, policy), contradiction) for contradiction in found]
    # A chain that a policy created may form a circle with an older one.
    conflicts += break_circles(facts, known)
    _hand_marks_on(facts, mine, yours)
    asked = [(each, conflict_proposal(each, facts)) for each in conflicts]
    asked += [(each, contradiction_proposal(each, contradiction, facts)) for each, contradiction in values]
    questions = tuple((conflict, proposal) for conflict, proposal in asked if proposal)
    conflicts += [each for each, _ in values]
    return MergedFacts(facts_by_path(facts, base, ours, theirs), tuple(conflicts), questions, twins)


def _contradicting(
    facts: Facts, conflicts: Iterable[MergeConflict], fresh: tuple[set[str], set[str]], policy: MergePolicy
) -> Iterator[Contradiction]:
    """Yield the contradictions that no question about successors covers already."""
    asked = [
        {rival.id for rival in current_rivals(facts, conflict.fact or "")}
        for conflict in conflicts
        if conflict.kind == SUCCESSORS
    ]
    for contradiction in find_contradictions(facts, *fresh, policy):
        if not any({*contradiction.mine, *contradiction.yours} <= known for known in asked):
            yield contradiction


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
        base, fact, other = known.get(fact_id), mine.get(fact_id), yours.get(fact_id)
        if fact is None or other is None:
            left = fact or other
            if left is not None and (base is None or bare(left.fact) != bare(base.fact)):
                facts[fact_id] = left
            continue
        joined = merge_fact(base.fact if base else None, fact.fact, other.fact, order, policy.side)
        path = three_way(base.path if base else MISSING, fact.path, other.path, max)
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
    beside_id = add_wording(facts, kept, _marked_like(kept, other), path, closed=policy.side is not None)
    words = f"{beside_id} has the other wording"
    if policy.side is not None:
        words = f"{kept.id} has the winning wording and replaced {beside_id}, which has the other one"
    return MergeConflict(WORDING, path, kept.id, f"both sides changed the wording of {kept.id}; {words}")


def _bring_back(facts: Facts, known: Mapping[str, FiledFact], *sides: Mapping[str, FiledFact]) -> None:
    """Restore facts that one side removed but that a remaining fact refers to."""
    waiting: list[Fact] = [filed_fact.fact for filed_fact in facts.values()]
    while waiting:
        for target in sorted(points_at(waiting.pop())):
            fact = next((side[target] for side in sides if target in side), None)
            if target not in facts and target in known and fact is not None:
                facts[target] = fact
                waiting.append(fact.fact)


def _hand_marks_on(facts: Facts, *sides: Mapping[str, FiledFact]) -> None:
    """Mark what one side put in place of a fact that the other marked, unless a side had both as they are."""
    waiting = [fact_id for fact_id in facts if _is_marked(facts[fact_id])]
    for fact_id in waiting:
        fact = facts[fact_id].fact
        new_id = fact.superseded_by or ""
        if new_id not in facts or _is_marked(facts[new_id]):
            continue
        if any(_is_marked(side.get(fact_id)) and new_id in side for side in sides):
            continue
        replace_fact(facts, _marked_like(fact, facts[new_id].fact))
        waiting.append(new_id)


def _is_marked(filed: FiledFact | None) -> bool:
    return filed is not None and MARK in (filed.fact.metadata or {})


def _marked_like(known: Fact, fact: Fact) -> Fact:
    """Return a fact with the mark that another one has, if it has none."""
    mark = (known.metadata or {}).get(MARK)
    if mark is None or MARK in (fact.metadata or {}):
        return fact
    return fact._replace(metadata={**(fact.metadata or {}), MARK: mark})


DUPLICATE_REASON = "learned on two machines"


class DuplicateFact(NamedTuple):
    """The fact that stays current, and the equal one that now points to it."""

    kept: str
    other: str


def join_duplicates(facts: Facts, mine: Collection[str], yours: Collection[str]) -> Iterator[DuplicateFact]:
    """Keep one of several equal facts of an entity, where some are new in `mine` and some in `yours`."""
    for group in _alike(facts, {*mine, *yours}):
        if any(text in mine for text in group) and any(text in yours for text in group):
            kept = min(group, key=lambda text: _preference(facts[text].fact))
            for other in sorted(set(group) - {kept}):
                _join(facts, kept, other)
                yield DuplicateFact(kept, other)


def _alike(facts: Mapping[str, FiledFact], fresh: Collection[str]) -> list[list[str]]:
    groups: dict[tuple[str, str, str | None], list[str]] = defaultdict(list)
    for fact_id in fresh:
        fact = facts.get(fact_id)
        if fact is not None and fact.fact.is_current:
            # The same words in two scopes are two facts.
            groups[fact.path, f"{normal(fact.fact.fact)}\n{realm_of(fact.fact)}", fact.fact.valid_to].append(fact_id)
    return [sorted(group) for key, group in sorted(groups.items(), key=lambda row: row[0][:2])]


def _preference(fact: Fact) -> tuple[int, str, str]:
    """Prefer the most trusted source, then the earliest fact."""
    return -trust_rank(fact.trust), fact.timestamp, fact.id


def _join(facts: Facts, kept_id: str, other_id: str) -> None:
    kept, other = facts[kept_id].fact, facts[other_id].fact
    earlier = [link for link in other.links if _is_twin(link)]
    for link in earlier:
        twin = facts.get(link.to)
        if twin is not None and twin.fact.superseded_by == other_id:
            replace_fact(facts, twin.fact._replace(superseded_by=kept_id))
    joint = FactLink("merges", other_id, DUPLICATE_REASON, max(kept.timestamp, other.timestamp))
    moved = [link._replace(at=max(kept.timestamp, link.at or "")) for link in earlier]
    left = tuple(link for link in other.links if not _is_twin(link))
    replace_fact(facts, _richer(kept, other)._replace(links=merge_links((), kept.links, (joint, *moved))))
    replace_fact(facts, other._replace(status=SUPERSEDED, superseded_by=kept_id, links=left))


def _is_twin(link: FactLink) -> bool:
    return link.type == "merges" and link.reason == DUPLICATE_REASON


def _richer(kept: Fact, other: Fact) -> Fact:
    return kept._replace(
        confidence=most(kept.confidence, other.confidence),
        importance=most(kept.importance, other.importance),
        tags=_united(kept.tags, other.tags),
        related_entities=_united(kept.related_entities, other.related_entities),
    )


def _united(kept: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...]:
    return (*kept, *sorted(set(other) - set(kept)))


def link_rival_decisions(facts: Facts, mine: Collection[str], yours: Collection[str]) -> Iterator[MergeConflict]:
    """Link each current decision that is new on one side to those that are new on the other and that it goes against:
    the later one to the earlier one, as where both are added on one machine."""
    known = [
        [facts[text] for text in sorted(side) if text in facts and _decides(facts[text].fact)] for side in (mine, yours)
    ]
    for pair in product(*known):
        earlier, later = sorted(pair, key=lambda filed: _age(filed.fact))
        first, fact = earlier.fact, facts[later.fact.id].fact
        alike = realm_of(first) == realm_of(fact) and _owner(earlier.path) == _owner(later.path)
        why = goes_against(fact, first) if alike else None
        if why and not any(link.to == first.id for link in fact.links):
            link = FactLink("contradicts", first.id, why, fact.timestamp)
            replace_fact(facts, fact._replace(links=(*fact.links, link)))
            text = f"{fact.id} ({fact.fact}) goes against the earlier decision {first.id} ({first.fact}): {why}"
            yield MergeConflict(VALUES, later.path, fact.id, f"{text}; both are kept")


def _decides(fact: Fact) -> bool:
    return fact.category == DECISION and fact.is_current


_WHY = "two machines learned different values"
_AGENTS = "agents/"


class Contradiction(NamedTuple):
    """Facts that disagree about one subject and relation: the new ones of each side, and all current ones.

    The first three fields hold ids, oldest first. `subject` and `relation` are for people.
    """

    mine: tuple[str, ...]
    yours: tuple[str, ...]
    all: tuple[str, ...]
    subject: str = ""
    relation: str = ""


def find_contradictions(
    facts: Mapping[str, FiledFact], mine: Collection[str], yours: Collection[str], policy: MergePolicy
) -> Iterator[Contradiction]:
    """Yield the contradictions between facts that are new on one side and facts that are new on the other.

    `policy` names the relations that take one value at a time. Contradictions within one side are ignored.
    """
    phrases = _phrases(policy)
    for members in _groups(facts, phrases, {*mine, *yours}):
        ours = [member for member in members if member.fact.id in mine]
        theirs = [member for member in members if member.fact.id in yours]
        against = {pair.fact.id for our in ours for other in theirs if _differ(our, other) for pair in (our, other)}
        if against:
            latest = members[-1]
            yield Contradiction(
                tuple(our.fact.id for our in ours if our.fact.id in against),
                tuple(their.fact.id for their in theirs if their.fact.id in against),
                tuple(member.fact.id for member in members),
                latest.fact.subject or latest.value.subject,
                latest.value.predicate,
            )


def _phrases(policy: MergePolicy) -> tuple[SinglePhrase, ...]:
    """Return the phrases of the policy's relations; one without phrases is known by its name."""
    known = {phrase.predicate for phrase in policy.phrases}
    return (*policy.phrases, *(SinglePhrase(name, name, "text") for name in sorted(policy.single - known)))


class _Stating(NamedTuple):
    fact: Fact
    value: StatedValue


def _groups(
    facts: Mapping[str, FiledFact], phrases: Sequence[SinglePhrase], fresh: Collection[str]
) -> list[list[_Stating]]:
    """Group current facts by owner, subject and relation, oldest first; keep the groups with at least two new facts.

    The owner is an agent for its own workspace, else the whole vault.
    """
    groups: dict[tuple[str, str, str], list[_Stating]] = defaultdict(list)
    # Only values that a new fact states are looked for in the words of the others.
    new = [value for text in fresh if text in facts and (value := stated_value(facts[text].fact, phrases))]
    wanted = {(value.subject, value.predicate) for value in new}
    asked = [phrase for phrase in phrases if any(phrase.predicate == predicate for _, predicate in wanted)]
    for filed_fact in facts.values() if wanted else ():
        value = stated_value(filed_fact.fact, asked) if filed_fact.fact.is_current else None
        if value and value[:2] in wanted:
            groups[_owner(filed_fact.path), *value[:2]].append(_Stating(filed_fact.fact, value))
    found = (sorted(group, key=lambda stating: _age(stating.fact)) for _, group in sorted(groups.items()))
    return [group for group in found if sum(stating.fact.id in fresh for stating in group) > 1]


def _owner(path: str) -> str:
    return path.split("/")[1] if path.startswith(_AGENTS) else ""


def _age(fact: Fact) -> tuple[str, str]:
    return fact.timestamp, fact.id


def _differ(stating: _Stating, other: _Stating) -> bool:
    """Return whether two facts of one relation have different values at the same time."""
    return are_rivals(stating.value, other.value) and hold_together(stating.fact, other.fact)


def _stating(fact: Fact, policy: MergePolicy) -> _Stating | None:
    value = stated_value(fact, _phrases(policy))
    return _Stating(fact, value) if value else None


def settle_values(facts: Facts, found: Contradiction, policy: MergePolicy) -> MergeConflict:
    """Let the policy's winner replace the other side's facts; without a winner, keep all and report it."""
    latest = facts[found.all[-1]]
    what = f"{found.subject} has several values of {found.relation}"
    winner = _winner(facts, found, policy)
    if winner is None:
        standing = [text for text in found.all if text in found.mine or text in found.yours]
        words = f"{' and '.join(standing)}; {all_of(len(standing))} are kept"
        return MergeConflict(VALUES, latest.path, latest.fact.id, f"{what}: {words}")
    others = found.yours if winner.id in found.mine else found.mine
    won = _stating(winner, policy)
    stated = [_stating(facts[other].fact, policy) for other in others]
    losers = [lost.fact for lost in stated if won and lost and _differ(lost, won)]
    path = facts[winner.id].path
    supersede_all(facts, winner, losers, _WHY)
    return MergeConflict(VALUES, path, winner.id, f"{what}; {winner.id} wins")


def _winner(facts: Facts, found: Contradiction, policy: MergePolicy) -> Fact | None:
    """Return the fact that replaces the other side's, or None if a person must decide."""
    if policy.name == NEWEST:
        latest = max((facts[your].fact for your in (*found.mine, *found.yours)), key=_age)
    elif policy.side is not None:
        latest = facts[(found.mine if policy.side == OURS else found.yours)[-1]].fact
    else:
        return None
    others = found.yours if latest.id in found.mine else found.mine
    return latest if may_win(latest, [facts[other].fact for other in others], policy) else None


def contradiction_proposal(
    conflict: MergeConflict, found: Contradiction, facts: Mapping[str, FiledFact]
) -> Proposal | None:
    """Return the proposal that the latest value replaces the others, or None if the question is settled."""
    standing = [facts[text].fact for text in found.all if facts[text].fact.is_current]
    new = {*found.mine, *found.yours}
    if sum(fact.id in new for fact in standing) < 2:
        return None
    latest = max((fact for fact in standing if fact.id in new), key=_age)
    others = [fact for fact in standing if fact.id != latest.id]
    stand = f"{all_of(len(standing))} stay active until this is decided"
    why = f"Two machines learned different values of {found.relation}; {stand}."
    asked = supersede_proposal(conflict, (*others, latest), why, name_of_path(facts[latest.id].path))
    return asked._replace(details={"relation": found.relation}) if found.relation else asked
