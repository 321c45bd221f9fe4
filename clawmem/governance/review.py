"""Review: a person sees what waits, and approves it or turns it down; each decision is one commit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from clawmem.errors import Refused
from clawmem.governance.approval import ApprovalPlan, plan_approval
from clawmem.index.refresh.refresh import run_query
from clawmem.index.search.lookup import PlacedFact, by_ids
from clawmem.index.tables.store import Index
from clawmem.memory.facts.revise import check_reason
from clawmem.memory.review.proposals import choose, filing, filing_trailers, find_proposal, read_proposals
from clawmem.memory.writing import WriteScope, fact_change, writing
from clawmem.model.language.dates import stamp
from clawmem.model.proposals.proposal import APPROVED, OPEN, REJECTED, Proposal, ReviewDecision
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change
from clawmem.vault.edits.adoption import user_identity
from clawmem.vault.vault import Vault

A_PERSON = "a person"


class ProposalList(NamedTuple):
    """Proposals, oldest first, and a sentence for each that cannot be read."""

    proposals: tuple[Proposal, ...]
    notices: tuple[str, ...] = ()


class ProposalDetails(NamedTuple):
    """A proposal and the facts it falls on, as they stand now; those that are gone are left out."""

    proposal: Proposal
    targets: tuple[PlacedFact, ...]
    notices: tuple[str, ...] = ()


class ReviewOutcome(NamedTuple):
    """The proposal as it was decided, the facts that changed with what happened to each, the commit (None where it
    had been decided so before), asides."""

    proposal: Proposal
    facts: tuple[PlacedFact, ...]
    outcome: tuple[str, ...]
    commit: str | None
    notices: tuple[str, ...] = ()


def list_proposals(vault: Vault, every: bool = False, kind: str | None = None) -> ProposalList:
    """What waits for a person, or every proposal there ever was, of one kind or of all."""
    filed = read_proposals(vault)
    return ProposalList(tuple(choose(filed, every, kind)), filed.unreadable)


def show_proposal(vault: Vault, reference: str) -> ProposalDetails:
    """One proposal, by its id or a unique prefix."""
    filed = read_proposals(vault)
    proposal = find_proposal(filed, reference)

    def shown(index: Index) -> ProposalDetails:
        found = by_ids(index, (one.id for one in proposal.targets))
        return ProposalDetails(proposal, tuple(found.values()), (*map(str, filed.unreadable), *index.notices))

    return run_query(vault, shown)


def approve(
    vault: Vault, reference: str, caller: Caller, reason: str | None = None, beside: bool = False
) -> ReviewOutcome:
    """Carry out a proposal; Refused with the reason where the world has moved on since it was made.

    With `beside`, a fact that contradicts others is added and linked to them, and they stay.
    """
    because = check_reason(reason)
    with writing(vault, caller, "review") as work:
        proposal = _waiting(work, reference, APPROVED)
        if proposal.status == APPROVED:
            return _again(work, proposal)
        plan = plan_approval(work, proposal, because, beside)
        decided = _decided(proposal, APPROVED, caller, because)
        change = _change(work, decided, plan, "approved")
        # Other machines may accept what this person approves, so the commit says who it was.
        author = change.author or user_identity(vault)
        commits = work.commit([change._replace(author=author)])
        return ReviewOutcome(decided, plan.facts, plan.outcome, commits[-1], work.notices)


def reject(vault: Vault, reference: str, caller: Caller, reason: str) -> ReviewOutcome:
    """Turn a proposal down, for a reason that is kept with it."""
    because = check_reason(reason)
    with writing(vault, caller, "review") as work:
        proposal = _waiting(work, reference, REJECTED)
        if proposal.status == REJECTED:
            return _again(work, proposal)
        decided = _decided(proposal, REJECTED, caller, because)
        commits = work.commit([_change(work, decided, ApprovalPlan((), (), {}, proposal.id), "rejected")])
        return ReviewOutcome(decided, (), (), commits[-1], work.notices)


def _waiting(work: WriteScope, reference: str, wanted: str) -> Proposal:
    """The proposal where it waits or was decided as wanted; Refused where it was decided otherwise."""
    proposal = find_proposal(read_proposals(work.vault, work.read), reference)
    if proposal.status in (OPEN, wanted):
        return proposal
    raise Refused(
        f"{proposal.id} was {proposal.status} already{_when(proposal)}.",
        f"`git log --grep {proposal.id}` names that commit; `clawmem undo COMMIT` opens the proposal again.",
    )


def _when(proposal: Proposal) -> str:
    one = proposal.decided
    return f", by {one.by} at {one.at}" if one else ""


def _again(work: WriteScope, proposal: Proposal) -> ReviewOutcome:
    said = f"{proposal.id} was {proposal.status} already{_when(proposal)}"
    return ReviewOutcome(proposal, (), (), None, (*work.notices, said))


def _decided(proposal: Proposal, status: str, caller: Caller, reason: str | None) -> Proposal:
    return proposal._replace(status=status, decided=ReviewDecision(caller.agent or A_PERSON, stamp(caller.now), reason))


def _change(work: WriteScope, proposal: Proposal, plan: ApprovalPlan, word: str) -> Change:
    because = proposal.decided.reason if proposal.decided else None
    change = fact_change(
        work.caller,
        "review",
        plan.place,
        f"{word}: {proposal.says}" + (f" (because: {because})" if because else ""),
        {**plan.writes, **filing([proposal])},
        [one.fact for one in plan.facts],
        entities=[one.entity for one in plan.facts],
        supersedes=plan.supersedes,
    )
    told = change.trailers if plan.facts else _without(change.trailers, ("Entity", plan.place))
    return change._replace(trailers=(*told, *filing_trailers([proposal])), body=f"It waited because: {proposal.why}")


def _without(rows: Sequence[tuple[str, str]], row: tuple[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(one for one in rows if one != row)
