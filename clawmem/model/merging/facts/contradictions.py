"""Find and settle different values that two machines learned for a relation that takes only one value."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from clawmem.model.facts.fact import Fact
from clawmem.model.facts.trust import is_low_trust
from clawmem.model.facts.validity import validity
from clawmem.model.language.dates import begin_instant
from clawmem.model.language.text import all_of, normal
from clawmem.model.merging.facts.chains import Facts
from clawmem.model.merging.facts.rivals import supersede_all, supersede_proposal
from clawmem.model.merging.facts.table import FiledFact
from clawmem.model.merging.policy import NEWEST, OURS, VALUES, MergeConflict, MergePolicy
from clawmem.model.proposals.proposal import Proposal
from clawmem.model.records.entity import name_of_path

_WHY = "two machines learned different values"
_AGENTS = "agents/"


class Contradiction(NamedTuple):
    """Facts that disagree about one subject and relation: the new ones of each side, and all current ones.

    Each field holds ids, oldest first.
    """

    mine: tuple[str, ...]
    yours: tuple[str, ...]
    all: tuple[str, ...]


def find_contradictions(
    facts: Mapping[str, FiledFact], mine: Collection[str], yours: Collection[str], single: Collection[str]
) -> Iterator[Contradiction]:
    """Yield the contradictions between facts that are new on one side and facts that are new on the other.

    `single` are the relations that take one value at a time. Contradictions within one side are ignored.
    """
    if not single:
        return
    for members in _groups(facts, single, {*mine, *yours}):
        ours = [one for one in members if one.id in mine]
        theirs = [one for one in members if one.id in yours]
        against = {pair for one in ours for other in theirs if _differ(one, other) for pair in (one.id, other.id)}
        if against:
            yield Contradiction(
                tuple(one.id for one in ours if one.id in against),
                tuple(one.id for one in theirs if one.id in against),
                tuple(one.id for one in members),
            )


def _groups(facts: Mapping[str, FiledFact], single: Collection[str], fresh: Collection[str]) -> list[list[Fact]]:
    """Group current facts by owner, subject and relation; keep the groups with at least two new facts.

    The owner is an agent for its own workspace, else the whole vault.
    """
    groups: dict[tuple[str, str, str], list[Fact]] = defaultdict(list)
    for one in facts.values():
        fact = one.fact
        if fact.stands and fact.subject and fact.object and fact.predicate in single:
            groups[_owner(one.path), normal(fact.subject), fact.predicate or ""].append(fact)
    found = (sorted(group, key=_age) for _, group in sorted(groups.items()))
    return [group for group in found if sum(one.id in fresh for one in group) > 1]


def _owner(path: str) -> str:
    return path.split("/")[1] if path.startswith(_AGENTS) else ""


def _age(fact: Fact) -> tuple[str, str]:
    return fact.timestamp, fact.id


def _differ(one: Fact, other: Fact) -> bool:
    """Return whether two facts of one relation have different values at the same time."""
    if normal(one.object or "") == normal(other.object or ""):
        return False
    begins, ends = zip(validity(one), validity(other), strict=True)
    begin, end = max(filter(None, begins), default=""), min(filter(None, ends), default=None)
    return end is None or begin_instant(begin) < end


def settle_values(facts: Facts, found: Contradiction, policy: MergePolicy) -> MergeConflict:
    """Let the policy's winner replace the other side's facts; without a winner, keep all and report it."""
    latest = facts[found.all[-1]]
    what = f"{latest.fact.subject} has several values of {latest.fact.predicate}"
    winner = _winner(facts, found, policy)
    if winner is None:
        standing = [one for one in found.all if one in found.mine or one in found.yours]
        words = f"{' and '.join(standing)}; {all_of(len(standing))} are kept"
        return MergeConflict(VALUES, latest.path, latest.fact.id, f"{what}: {words}")
    others = found.yours if winner.id in found.mine else found.mine
    losers = [facts[one].fact for one in others if _differ(facts[one].fact, winner)]
    path = facts[winner.id].path
    supersede_all(facts, winner, losers, _WHY)
    return MergeConflict(VALUES, path, winner.id, f"{what}; {winner.id} wins")


def _winner(facts: Facts, found: Contradiction, policy: MergePolicy) -> Fact | None:
    """Return the fact that replaces the other side's, or None if a person must decide."""
    if policy.name == NEWEST:
        latest = max((facts[one].fact for one in (*found.mine, *found.yours)), key=_age)
    elif policy.side is not None:
        latest = facts[(found.mine if policy.side == OURS else found.yours)[-1]].fact
    else:
        return None
    others = found.yours if latest.id in found.mine else found.mine
    if is_low_trust(latest.trust) and not all(is_low_trust(facts[one].fact.trust) for one in others):
        return None
    return latest


def contradiction_proposal(
    conflict: MergeConflict, found: Contradiction, facts: Mapping[str, FiledFact]
) -> Proposal | None:
    """Return the proposal that the latest value replaces the others, or None if the question is settled."""
    standing = [facts[one].fact for one in found.all if facts[one].fact.stands]
    new = {*found.mine, *found.yours}
    if sum(one.id in new for one in standing) < 2:
        return None
    latest = max((one for one in standing if one.id in new), key=_age)
    others = [one for one in standing if one.id != latest.id]
    stand = f"{all_of(len(standing))} stay active until this is decided"
    why = f"Two machines learned different values of {latest.predicate}; {stand}."
    return supersede_proposal(conflict, (*others, latest), why, name_of_path(facts[latest.id].path))
