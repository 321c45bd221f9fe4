"""Settle facts that replaced the same fact on different machines: one chain, or a proposal for a person."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from clawmem.model.facts.fact import SUPERSEDED, UNSET_ID, Fact, FactLink, is_low_trust, trust_rank
from clawmem.model.language.text import all_of
from clawmem.model.lifecycle.chain import REPLACING_LINKS
from clawmem.model.merging.collisions import Facts, FiledFact, known_end_of_chain, replace_fact, superseded
from clawmem.model.merging.fields import (
    NEWEST,
    OURS,
    SUCCESSORS,
    VALUES,
    WORDING,
    MergeConflict,
    MergePolicy,
    merge_links,
)
from clawmem.model.proposals.proposal import PREFIX, SUPERSEDE, Proposal, ProposalTarget
from clawmem.model.records.entity import name_of_path

_WHY = "two machines replaced the same fact"


class SuccessorContest(NamedTuple):
    """A fact that both sides replaced, and its successor on each."""

    fact: str
    ours: str
    theirs: str


def find_contests(
    base: Mapping[str, FiledFact], ours: Mapping[str, FiledFact], theirs: Mapping[str, FiledFact]
) -> Iterable[SuccessorContest]:
    """The facts that each side replaced by another one."""
    for fact_id in sorted(ours.keys() & theirs.keys()):
        fact, other = ours[fact_id].fact, theirs[fact_id].fact
        before = base[fact_id].fact.superseded_by if fact_id in base else None
        if fact.status == other.status == SUPERSEDED and fact.superseded_by and other.superseded_by:
            pointers = {fact.superseded_by, other.superseded_by}
            if len(pointers) == 2 and before not in pointers:
                yield SuccessorContest(fact_id, fact.superseded_by, other.superseded_by)


def settle_contest(facts: Facts, contest: SuccessorContest, policy: MergePolicy) -> MergeConflict | None:
    """Make one chain of the rivals if the policy names a winner; return None if only one rival is current."""
    fact = facts[contest.fact]
    standing = current_rivals(facts, contest.fact)
    if fact.fact.status != SUPERSEDED or len(standing) < 2:
        return None
    names = " and ".join(other_fact.id for other_fact in standing)
    winner = _winner(facts, contest, standing, policy)
    if winner is None:
        kept = f"{all_of(len(standing))} are kept"
        return MergeConflict(SUCCESSORS, fact.path, contest.fact, f"{contest.fact} was replaced by {names}; {kept}")
    supersede_all(facts, winner, [other_fact for other_fact in standing if other_fact.id != winner.id], _WHY)
    return MergeConflict(
        SUCCESSORS,
        fact.path,
        contest.fact,
        f"{contest.fact} was replaced by {names}; {winner.id} wins",
    )


def supersede_all(facts: Facts, winner: Fact, losers: Iterable[Fact], why: str) -> None:
    """Let one fact replace other current facts."""
    losers = list(losers)
    for loser in losers:
        replace_fact(facts, superseded(facts[loser.id].fact, winner))
    links = tuple(FactLink("supersedes", fact.id, why, max(fact.timestamp, winner.timestamp)) for fact in losers)
    replace_fact(facts, winner._replace(links=merge_links((), winner.links, links)))


def current_rivals(facts: Mapping[str, FiledFact], fact_id: str) -> tuple[Fact, ...]:
    """Return the current facts at the ends of the chains that replaced a fact, oldest first."""
    ends = {}
    for filed_fact in facts.values():
        if any(link.type in REPLACING_LINKS and link.to == fact_id for link in filed_fact.fact.links):
            end = known_end_of_chain(facts, filed_fact.fact.id)
            if end is not None and end.is_current:
                ends[end.id] = end
    return tuple(sorted(ends.values(), key=lambda fact: (fact.timestamp, fact.id)))


def _winner(facts: Facts, contest: SuccessorContest, standing: tuple[Fact, ...], policy: MergePolicy) -> Fact | None:
    """Return the fact that replaces the others, never one of higher trust, or None if a person must decide."""
    if policy.name == NEWEST:
        winner: Fact | None = standing[-1]
    elif policy.side is not None:
        winner = known_end_of_chain(facts, contest.ours if policy.side == OURS else contest.theirs)
    else:
        return None
    return winner if winner and winner.is_current and may_win(winner, standing, policy) else None


def may_win(winner: Fact, others: Sequence[Fact], policy: MergePolicy) -> bool:
    """Return whether the trust of a fact lets it replace others without a person."""
    if policy.name == NEWEST and trust_rank(winner.trust) < max(trust_rank(fact.trust) for fact in others):
        return False
    return not is_low_trust(winner.trust) or all(is_low_trust(fact.trust) for fact in others)


def conflict_proposal(conflict: MergeConflict, facts: Mapping[str, FiledFact]) -> Proposal | None:
    """Return the proposal that the latest fact of a conflict replaces the others, or None if nothing is open."""
    if conflict.fact is None or conflict.kind not in (SUCCESSORS, WORDING):
        return None
    standing = (
        current_rivals(facts, conflict.fact) if conflict.kind == SUCCESSORS else current_wordings(facts, conflict.fact)
    )
    if len(standing) < 2:
        return None
    return supersede_proposal(conflict, standing, _why(conflict, facts), name_of_path(facts[standing[-1].id].path))


def supersede_proposal(conflict: MergeConflict, standing: Sequence[Fact], why: str, entity: str | None) -> Proposal:
    """Return the proposal that the last of some facts replaces the others."""
    latest, others = standing[-1], standing[:-1]
    return Proposal(
        id=proposal_id(conflict, *(fact.id for fact in standing if conflict.kind != SUCCESSORS)),
        kind="conflict",
        says=f"{latest.fact} (instead of: {'; '.join(other.fact for other in others)})",
        why=why,
        created=max(fact.timestamp for fact in standing),
        does=SUPERSEDE,
        targets=tuple(ProposalTarget(fact.id, fact.fact) for fact in standing),
        fact=latest._replace(id=UNSET_ID, status="active", superseded_by=None, access_count=0, last_accessed=None),
        entity=entity,
    )


def current_wordings(facts: Mapping[str, FiledFact], fact_id: str) -> tuple[Fact, ...]:
    """Return a fact and the other wordings that merges kept beside it, current ones only, oldest first."""
    found = [
        filed_fact.fact
        for filed_fact in facts.values()
        if filed_fact.fact.id == fact_id
        or any(link.type == "contradicts" and link.to == fact_id for link in filed_fact.fact.links)
    ]
    return tuple(sorted((fact for fact in found if fact.is_current), key=lambda fact: (fact.timestamp, fact.fact)))


def proposal_id(conflict: MergeConflict, *standing: str) -> str:
    """Return the id of a conflict's proposal, on every machine the same; with `standing`, of these facts."""
    from hashlib import sha256  # conflicts are rare

    about = "" if conflict.kind == VALUES else conflict.fact or ""
    seed = "\0".join((conflict.kind, about, *sorted(standing)))
    return PREFIX + sha256(seed.encode()).hexdigest()[:16]


def _why(conflict: MergeConflict, facts: Mapping[str, FiledFact]) -> str:
    if conflict.kind == WORDING:
        return f"Two machines changed the wording of {conflict.fact}; both stay active until this is decided."
    text = facts[conflict.fact or ""].fact.fact
    return f"Two machines replaced {conflict.fact} ({text}); both successors stay active until this is decided."
