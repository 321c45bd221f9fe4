"""Promotions that a person should decide: doubts, earlier decisions, and new proposals."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from clawmem.index.search.lookup import by_ids, facts_containing
from clawmem.learning.promotion.candidates import PromotionCandidate
from clawmem.memory.review.proposals import read_proposals
from clawmem.memory.scope import WriteScope
from clawmem.model.facts.fact import Fact
from clawmem.model.language.dates import stamp
from clawmem.model.proposals.promotion import PromotionScore, PromotionVerdict, ScoredFact, promotion_doubt
from clawmem.model.proposals.proposal import (
    ADD,
    APPROVED,
    DECIDE,
    OPEN,
    PROMOTE,
    PromotionWorth,
    Proposal,
    ProposalTarget,
    new_proposal_id,
    topic,
)

KIND, ARCHIVE = "promotion", "archive"


class PendingPromotions:
    """The promotion proposals of the vault, and the contradictions of each fact."""

    def __init__(self, work: WriteScope) -> None:
        filed = read_proposals(work.vault, work.read)
        self._work = work
        self._promotions = [one for one in filed.proposals if one.kind == KIND]
        self._taken = {one.id for one in filed.proposals}
        self._archived = {one.entity for one in filed.proposals if one.kind == ARCHIVE and one.status != APPROVED}
        self._earlier = {key: one for one in self._promotions if one.status != APPROVED for key in _keys(one)}
        self._contradictions = _contradictions(work, filed.open)
        self.notices = tuple(f"left alone: {problem}" for problem in filed.unreadable)

    def count(self, on: str) -> int:
        """Return how many promotions were proposed for a day, decided ones included."""
        return sum(1 for one in self._promotions if one.worth and one.worth.on == on)

    def scored(self, one: PromotionCandidate, judgement: PromotionScore) -> ScoredFact:
        """Return the candidate with its score, its doubt and any earlier decision."""
        earlier = self._earlier.get((one.fact.id,))
        doubt = promotion_doubt(one.fact, self._contradictions.get(one.fact.id, ()))
        settled = _settled(earlier) if earlier else None
        return ScoredFact(one.fact, one.entity, judgement, doubt, earlier.id if earlier else None, settled)

    def proposal(self, one: PromotionCandidate, verdict: PromotionVerdict, on: str) -> Proposal:
        """Return a proposal with a new id for a promotion that waits for review."""
        judgement, fact = verdict.candidate.judgement, one.fact
        return Proposal(
            self._new_id(),
            KIND,
            f"Keep for thirty days: {fact.fact}",
            f"{verdict.reason[0].upper()}{verdict.reason[1:]}.",
            stamp(self._work.caller.now),
            PROMOTE,
            targets=(ProposalTarget(fact.id, fact.fact),),
            entity=one.entity,
            title=one.title,
            worth=PromotionWorth(on, judgement.score, judgement.reasons),
            source_event=fact.source_event,
            agent=fact.agent,
        )

    def archiving(self, entities: Iterable[str], judge: str) -> list[Proposal]:
        """Return a proposal to archive each of these entities, without those that were proposed before."""
        why, now = f"{judge} reads that its work is finished or given up.", stamp(self._work.caller.now)
        return [Proposal(self._new_id(), ARCHIVE, f"Archive {entity}.", why, now, DECIDE, entity=entity)
                for entity in entities if entity not in self._archived]  # fmt: skip

    def _new_id(self) -> str:
        identity = new_proposal_id(self._work.caller.entropy, self._taken)
        self._taken.add(identity)
        return identity


def _keys(proposal: Proposal) -> Iterable[tuple[str, ...]]:
    yield from ((one.id,) for one in proposal.targets)
    if proposal.fact:
        yield topic(ADD, proposal.fact)


def _settled(earlier: Proposal) -> str:
    if earlier.status == OPEN:
        return f"it already waits for review as {earlier.id}"
    because = f": {earlier.decided.reason}" if earlier.decided and earlier.decided.reason else ""
    return f"it was rejected in review as {earlier.id}{because}"


def _contradictions(work: WriteScope, waiting: Sequence[Proposal]) -> dict[str, list[str]]:
    """Return by fact id the facts that contradict it in either direction, and open conflict proposals."""
    contradictions: dict[str, list[str]] = defaultdict(list)
    for one in waiting:
        if one.kind == "conflict":
            for target in one.targets:
                contradictions[target.id].append(one.id)
    links = [(one.fact, link.to) for one in facts_containing(work.index, '"contradicts"') for link in one.fact.links
             if link.type == "contradicts" and one.fact.is_current]  # fmt: skip
    current = _current(work, (to for _, to in links))
    for fact, to in links:
        if to in current:
            contradictions[fact.id].append(to)
            contradictions[to].append(fact.id)
    return contradictions


def _current(work: WriteScope, ids: Iterable[str]) -> dict[str, Fact]:
    return {key: one.fact for key, one in by_ids(work.index, set(ids)).items() if one.fact.is_current}
