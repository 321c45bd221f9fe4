"""Find and settle different values that two machines learned for a relation that takes only one value."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from clawmem.model.facts.fact import Fact
from clawmem.model.facts.stated_value import SinglePhrase, StatedValue, are_rivals, hold_together, stated_value
from clawmem.model.facts.trust import is_low_trust, trust_rank
from clawmem.model.language.text import all_of
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
    if not policy.single:
        return
    phrases = _phrases(policy)
    for members in _groups(facts, phrases, {*mine, *yours}):
        ours = [one for one in members if one.fact.id in mine]
        theirs = [one for one in members if one.fact.id in yours]
        against = {pair.fact.id for one in ours for other in theirs if _differ(one, other) for pair in (one, other)}
        if against:
            latest = members[-1]
            yield Contradiction(
                tuple(one.fact.id for one in ours if one.fact.id in against),
                tuple(one.fact.id for one in theirs if one.fact.id in against),
                tuple(one.fact.id for one in members),
                latest.fact.subject or latest.value.subject,
                latest.value.predicate,
            )


def _phrases(policy: MergePolicy) -> tuple[SinglePhrase, ...]:
    """Return the phrases of the policy's relations; one without phrases is known by its name."""
    known = {one.predicate for one in policy.phrases}
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
    new = [value for one in fresh if one in facts and (value := stated_value(facts[one].fact, phrases))]
    wanted = {(value.subject, value.predicate) for value in new}
    asked = [one for one in phrases if any(one.predicate == predicate for _, predicate in wanted)]
    for one in facts.values() if wanted else ():
        value = stated_value(one.fact, asked) if one.fact.is_current else None
        if value and value[:2] in wanted:
            groups[_owner(one.path), *value[:2]].append(_Stating(one.fact, value))
    found = (sorted(group, key=lambda one: _age(one.fact)) for _, group in sorted(groups.items()))
    return [group for group in found if sum(one.fact.id in fresh for one in group) > 1]


def _owner(path: str) -> str:
    return path.split("/")[1] if path.startswith(_AGENTS) else ""


def _age(fact: Fact) -> tuple[str, str]:
    return fact.timestamp, fact.id


def _differ(one: _Stating, other: _Stating) -> bool:
    """Return whether two facts of one relation have different values at the same time."""
    return are_rivals(one.value, other.value) and hold_together(one.fact, other.fact)


def _stating(fact: Fact, policy: MergePolicy) -> _Stating | None:
    value = stated_value(fact, _phrases(policy))
    return _Stating(fact, value) if value else None


def settle_values(facts: Facts, found: Contradiction, policy: MergePolicy) -> MergeConflict:
    """Let the policy's winner replace the other side's facts; without a winner, keep all and report it."""
    latest = facts[found.all[-1]]
    what = f"{found.subject} has several values of {found.relation}"
    winner = _winner(facts, found, policy)
    if winner is None:
        standing = [one for one in found.all if one in found.mine or one in found.yours]
        words = f"{' and '.join(standing)}; {all_of(len(standing))} are kept"
        return MergeConflict(VALUES, latest.path, latest.fact.id, f"{what}: {words}")
    others = found.yours if winner.id in found.mine else found.mine
    won = _stating(winner, policy)
    stated = [_stating(facts[one].fact, policy) for one in others]
    losers = [lost.fact for lost in stated if won and lost and _differ(lost, won)]
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
    if policy.name == NEWEST and trust_rank(latest.trust) < max(trust_rank(facts[one].fact.trust) for one in others):
        return None
    if is_low_trust(latest.trust) and not all(is_low_trust(facts[one].fact.trust) for one in others):
        return None
    return latest


def contradiction_proposal(
    conflict: MergeConflict, found: Contradiction, facts: Mapping[str, FiledFact]
) -> Proposal | None:
    """Return the proposal that the latest value replaces the others, or None if the question is settled."""
    standing = [facts[one].fact for one in found.all if facts[one].fact.is_current]
    new = {*found.mine, *found.yours}
    if sum(one.id in new for one in standing) < 2:
        return None
    latest = max((one for one in standing if one.id in new), key=_age)
    others = [one for one in standing if one.id != latest.id]
    stand = f"{all_of(len(standing))} stay active until this is decided"
    why = f"Two machines learned different values of {found.relation}; {stand}."
    asked = supersede_proposal(conflict, (*others, latest), why, name_of_path(facts[latest.id].path))
    return asked._replace(details={"relation": found.relation}) if found.relation else asked
