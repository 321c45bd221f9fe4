"""Promotions that a person should decide: what makes one doubtful, what was decided before, what is proposed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from clawmem.index.search.lookup import by_ids, holding
from clawmem.learning.promotion.candidates import PromotionCandidate
from clawmem.memory.review.proposals import read_proposals
from clawmem.memory.writing import WriteScope
from clawmem.model.facts.draft import UNSET_ID
from clawmem.model.facts.fact import Fact
from clawmem.model.language.dates import stamp
from clawmem.model.proposals.promotion import PromotionScore, PromotionVerdict, ScoredFact, promotion_doubt
from clawmem.model.proposals.proposal import (
    ADD,
    APPROVED,
    OPEN,
    PROMOTE,
    PromotionWorth,
    Proposal,
    ProposalTarget,
    new_proposal_id,
    topic,
)

KIND = "promotion"


class PendingPromotions:
    """The proposals of the vault as far as they bear on promotion, and what stands against each fact."""

    def __init__(self, work: WriteScope) -> None:
        filed = read_proposals(work.vault, work.read)
        self._work = work
        self._promotions = [one for one in filed.proposals if one.kind == KIND]
        self._taken = {one.id for one in filed.proposals}
        self._earlier = {key: one for one in self._promotions if one.status != APPROVED for key in _keys(one)}
        self._against = _opposed(work, filed.open)
        self.notices = tuple(f"left alone: {problem}" for problem in filed.unreadable)

    def asked(self, on: str) -> int:
        """How many promotions were proposed for a day, whatever became of them."""
        return sum(1 for one in self._promotions if one.worth and one.worth.on == on)

    def candidate(self, one: PromotionCandidate, judgement: PromotionScore) -> ScoredFact:
        """A contender with what a person has to do with it."""
        earlier = self._earlier.get(_key(one))
        doubt = promotion_doubt(one.fact, self._against.get(one.fact.id, ()))
        settled = _settled(earlier) if earlier else None
        return ScoredFact(one.fact, one.entity, judgement, doubt, earlier.id if earlier else None, settled)

    def proposal(self, one: PromotionCandidate, verdict: PromotionVerdict, on: str) -> Proposal:
        """The proposal of a promotion that waits, with an id of its own."""
        judgement, fact = verdict.candidate.judgement, one.fact
        identity = new_proposal_id(self._work.caller.entropy, self._taken)
        self._taken.add(identity)
        return Proposal(
            identity,
            KIND,
            f"Keep for thirty days: {fact.fact}",
            f"{verdict.reason[0].upper()}{verdict.reason[1:]}.",
            stamp(self._work.caller.now),
            PROMOTE,
            targets=() if one.noted else (ProposalTarget(fact.id, fact.fact),),
            fact=fact._replace(id=UNSET_ID) if one.noted else None,
            entity=one.entity,
            title=one.title,
            worth=PromotionWorth(on, judgement.score, judgement.reasons),
            source_event=fact.source_event,
            agent=fact.agent,
        )


def _key(one: PromotionCandidate) -> tuple[str, ...]:
    return topic(ADD, one.fact) if one.noted else (one.fact.id,)


def _keys(proposal: Proposal) -> Iterable[tuple[str, ...]]:
    yield from ((one.id,) for one in proposal.targets)
    if proposal.fact:
        yield topic(ADD, proposal.fact)


def _settled(earlier: Proposal) -> str:
    if earlier.status == OPEN:
        return f"it waits for review already, as {earlier.id}"
    because = f": {earlier.decided.reason}" if earlier.decided and earlier.decided.reason else ""
    return f"it was turned down in review, as {earlier.id}{because}"


def _opposed(work: WriteScope, waiting: Sequence[Proposal]) -> dict[str, list[str]]:
    """By fact, what stands against it: facts that contradict it or that it contradicts, and open conflicts."""
    against: dict[str, list[str]] = defaultdict(list)
    for one in waiting:
        if one.kind == "conflict":
            for target in one.targets:
                against[target.id].append(one.id)
    links = [(one.fact, link.to) for one in holding(work.index, '"contradicts"') for link in one.fact.links
             if link.type == "contradicts" and one.fact.stands]  # fmt: skip
    standing = _standing(work, (to for _, to in links))
    for fact, to in links:
        if to in standing:
            against[fact.id].append(to)
            against[to].append(fact.id)
    return against


def _standing(work: WriteScope, ids: Iterable[str]) -> dict[str, Fact]:
    return {key: one.fact for key, one in by_ids(work.index, set(ids)).items() if one.fact.stands}
