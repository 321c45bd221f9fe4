"""Several facts that replaced the same one on different machines: one chain, or a proposal for a person."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from clawmem.model.facts.draft import UNSET_ID
from clawmem.model.facts.fact import SUPERSEDED, Fact, FactLink
from clawmem.model.facts.trust import is_low
from clawmem.model.language.text import all_of
from clawmem.model.lifecycle.chain import REPLACING
from clawmem.model.merging.facts.chains import Facts, closed, end_of_chain, put
from clawmem.model.merging.facts.fields import merged_links
from clawmem.model.merging.facts.table import FiledFact
from clawmem.model.merging.policy import NEWEST, OURS, SUCCESSORS, VALUES, WORDING, MergeConflict, MergePolicy
from clawmem.model.proposals.proposal import PREFIX, SUPERSEDE, Proposal, ProposalTarget
from clawmem.model.records.entity import name_of_path

_WHY = "two machines replaced the same fact"


class SuccessorContest(NamedTuple):
    """A fact that both sides replaced, and its successor on each."""

    fact: str
    ours: str
    theirs: str


def contests(
    base: Mapping[str, FiledFact], ours: Mapping[str, FiledFact], theirs: Mapping[str, FiledFact]
) -> Iterable[SuccessorContest]:
    """The facts that each side replaced by another one."""
    for fact_id in sorted(ours.keys() & theirs.keys()):
        one, other = ours[fact_id].fact, theirs[fact_id].fact
        before = base[fact_id].fact.superseded_by if fact_id in base else None
        if one.status == other.status == SUPERSEDED and one.superseded_by and other.superseded_by:
            pointers = {one.superseded_by, other.superseded_by}
            if len(pointers) == 2 and before not in pointers:
                yield SuccessorContest(fact_id, one.superseded_by, other.superseded_by)


def settle_contest(facts: Facts, contest: SuccessorContest, policy: MergePolicy) -> MergeConflict | None:
    """Make one chain of the rivals where the policy says which one wins; None where nothing was contested after all."""
    fact = facts[contest.fact]
    standing = rivals(facts, contest.fact)
    if fact.fact.status != SUPERSEDED or len(standing) < 2:
        return None
    words = " and ".join(one.id for one in standing)
    winner = _winner(facts, contest, standing, policy)
    if winner is None:
        stand = f"which {all_of(len(standing))} stand"
        return MergeConflict(SUCCESSORS, fact.path, contest.fact, f"{contest.fact} was replaced by {words}, {stand}")
    crown(facts, winner, [one for one in standing if one.id != winner.id], _WHY)
    return MergeConflict(
        SUCCESSORS,
        fact.path,
        contest.fact,
        f"{contest.fact} was replaced by {words}; {winner.id} stands",
    )


def crown(facts: Facts, winner: Fact, losers: Iterable[Fact], why: str) -> None:
    """Let one fact take the place of others that stand."""
    losers = list(losers)
    for loser in losers:
        put(facts, closed(facts[loser.id].fact, winner))
    links = tuple(FactLink("supersedes", one.id, why, _later(one, winner)) for one in losers)
    put(facts, winner._replace(links=merged_links((), winner.links, links)))


def rivals(facts: Mapping[str, FiledFact], fact_id: str) -> tuple[Fact, ...]:
    """The facts that stand at the end of what replaced a fact, oldest first."""
    ends = {}
    for one in facts.values():
        if any(link.type in REPLACING and link.to == fact_id for link in one.fact.links):
            end = end_of_chain(facts, one.fact.id)
            if end is not None and end.stands:
                ends[end.id] = end
    return tuple(sorted(ends.values(), key=lambda one: (one.timestamp, one.id)))


def _winner(facts: Facts, contest: SuccessorContest, standing: tuple[Fact, ...], policy: MergePolicy) -> Fact | None:
    """The fact that takes the place of the others, unless a person must say: what a source of low trust says never
    replaces by itself what a better one said."""
    if policy.name == NEWEST:
        winner: Fact | None = standing[-1]
    elif policy.side is not None:
        winner = end_of_chain(facts, contest.ours if policy.side == OURS else contest.theirs)
    else:
        return None
    if winner is None or not winner.stands:
        return None
    if is_low(winner.trust) and not all(is_low(one.trust) for one in standing):
        return None
    return winner


def _later(one: Fact, other: Fact) -> str:
    return max(one.timestamp, other.timestamp)


def proposal_for(conflict: MergeConflict, facts: Mapping[str, FiledFact]) -> Proposal | None:
    """The question that a conflict of facts leaves to a person: shall the latest take the place of the others?"""
    if conflict.fact is None or conflict.kind not in (SUCCESSORS, WORDING):
        return None
    standing = rivals(facts, conflict.fact) if conflict.kind == SUCCESSORS else wordings(facts, conflict.fact)
    if len(standing) < 2:
        return None
    return question(conflict, standing, _why(conflict, facts), name_of_path(facts[standing[-1].id].path))


def question(conflict: MergeConflict, standing: Sequence[Fact], why: str, entity: str | None) -> Proposal:
    """The proposal that the last of some facts shall take the place of the others."""
    latest, others = standing[-1], standing[:-1]
    return Proposal(
        id=proposal_id(conflict, *(one.id for one in standing if conflict.kind != SUCCESSORS)),
        kind="conflict",
        says=f"{latest.fact} (instead of: {'; '.join(one.fact for one in others)})",
        why=why,
        created=max(one.timestamp for one in standing),
        does=SUPERSEDE,
        targets=tuple(ProposalTarget(one.id, one.fact) for one in standing),
        fact=latest._replace(id=UNSET_ID, status="active", superseded_by=None, access_count=0, last_accessed=None),
        entity=entity,
    )


def wordings(facts: Mapping[str, FiledFact], fact_id: str) -> tuple[Fact, ...]:
    """A fact and the other wordings that merges set beside it, those that stand, oldest first."""
    found = [
        one.fact
        for one in facts.values()
        if one.fact.id == fact_id or any(link.type == "contradicts" and link.to == fact_id for link in one.fact.links)
    ]
    return tuple(sorted((one for one in found if one.stands), key=lambda one: (one.timestamp, one.fact)))


def proposal_id(conflict: MergeConflict, *standing: str) -> str:
    """The same id on every machine that meets this conflict; with `standing` one for just these facts."""
    from hashlib import sha256  # conflicts are rare

    about = "" if conflict.kind == VALUES else conflict.fact or ""
    told = "\0".join((conflict.kind, about, *sorted(standing)))
    return PREFIX + sha256(told.encode()).hexdigest()[:16]


def _why(conflict: MergeConflict, facts: Mapping[str, FiledFact]) -> str:
    if conflict.kind == WORDING:
        return f"Two machines changed the words of {conflict.fact}; both stand until this is decided."
    said = facts[conflict.fact or ""].fact.fact
    return f"Two machines replaced {conflict.fact} ({said}); both successors stand until this is decided."
