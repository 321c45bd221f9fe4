"""What may not be kept without a person: filed as a proposal in `review/`, whole, so that nothing is lost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from clawmem.memory.review.proposals import filing, filing_trailers, read_proposals
from clawmem.memory.writing import WriteScope
from clawmem.model.facts.draft import UNSET_ID
from clawmem.model.facts.fact import Fact
from clawmem.model.facts.trust import is_low_trust
from clawmem.model.language.dates import stamp
from clawmem.model.proposals.proposal import ADD, OPEN, REJECTED, Proposal, ProposalTarget, new_proposal_id, topic
from clawmem.model.proposals.quarantine import orders_in
from clawmem.model.records.change import Change, agent_author, subject_line, trailers

_JOINTS = {"supersede": "instead of", "merge": "joined with"}


class QuarantineReason(NamedTuple):
    """The kind of proposal that a fact becomes, and why it waits."""

    kind: str
    why: str


class FiledProposalChange(NamedTuple):
    """The proposal, the change that files it (None where it was there), and an aside."""

    proposal: Proposal
    change: Change | None
    notice: str | None = None


def held(fact: Fact, against: Iterable[Fact] = ()) -> QuarantineReason | None:
    """Whether a person must decide about a fact that would stand `against` others, in their place."""
    orders = orders_in(fact)
    if orders:
        rule, words = orders
        return QuarantineReason(
            "fact", f"From {_source(fact)}, and it reads as an order to whoever is served it ({rule}): {words}"
        )
    better = next((one for one in against if not is_low_trust(one.trust)), None)
    if better is None or not is_low_trust(fact.trust):
        return None
    said = better.trust or "user"
    return QuarantineReason(
        "conflict", f"A source of low trust ({fact.trust}) would change what the {said} said: {better.id}."
    )


def _source(fact: Fact) -> str:
    return f"a source of low trust ({fact.trust})" if is_low_trust(fact.trust) else f"an {fact.trust}"


class ProposalWriter:
    """The proposals there are, read once, and those that an act adds to them."""

    def __init__(self, work: WriteScope) -> None:
        self._work = work
        self._filed = list(read_proposals(work.vault, work.read).proposals)

    def file(
        self, fact: Fact, entity: str, because: QuarantineReason, does: str = ADD, targets: Sequence[Fact] = ()
    ) -> FiledProposalChange:
        """Plan the proposal; one that waits for the same already, or was turned down, is given instead."""
        waiting, named = fact._replace(id=UNSET_ID), {one.id for one in targets}
        for one in self._filed:
            if one.fact is None or topic(one.does, one.fact) != topic(does, waiting):
                continue
            if one.status == OPEN and {target.id for target in one.targets} == named:
                return FiledProposalChange(one, None, f"it waits for review already, as {one.id}")
            if one.status == REJECTED:
                return FiledProposalChange(one, None, f"it was turned down in review, as {one.id}")
        proposal = self._proposal(waiting, entity, because, does, targets)
        self._filed.append(proposal)
        return FiledProposalChange(proposal, _change(self._work, proposal, fact, entity))

    def _proposal(
        self, fact: Fact, entity: str, because: QuarantineReason, does: str, targets: Sequence[Fact]
    ) -> Proposal:
        joint = _JOINTS.get(does)
        caller = self._work.caller
        return Proposal(
            new_proposal_id(caller.entropy, {one.id for one in self._filed}),
            because.kind,
            f"{fact.fact} ({joint}: {'; '.join(one.fact for one in targets)})" if joint else fact.fact,
            because.why,
            stamp(caller.now),
            does,
            targets=tuple(ProposalTarget(one.id, one.fact) for one in targets),
            fact=fact,
            entity=entity,
            source_event=fact.source_event,
            agent=caller.agent,
        )


def _change(work: WriteScope, proposal: Proposal, fact: Fact, entity: str) -> Change:
    caller = work.caller
    said = trailers(
        "propose",
        entities=[entity],
        agent=caller.agent,
        session=caller.session,
        sources=[fact.source],
        events=[fact.source_event] if fact.source_event else [],
    )
    return Change(
        # The words stand in the proposal alone: a log is read by machines, too.
        subject_line("propose", entity, f"a {proposal.kind} that waits for a person ({proposal.id})"),
        filing([proposal]),
        (*said, *filing_trailers([proposal])),
        author=agent_author(caller.agent),
    )


def shown_as(proposal: Proposal, fact: Fact) -> Fact:
    """The fact under the name by which it can be looked at and decided about: the proposal's."""
    return fact._replace(id=proposal.id)
