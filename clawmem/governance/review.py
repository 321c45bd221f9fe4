"""Review: a person sees what waits, and approves it or turns it down; each decision is one commit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from clawmem.errors import Refused
from clawmem.governance.approval import Plan, plan_approval
from clawmem.index.lookup import Placed, by_ids
from clawmem.index.refresh import answered
from clawmem.index.store import Index
from clawmem.memory.proposals import choose, filing, filing_trailers, find_proposal, read_proposals
from clawmem.memory.revise import check_reason
from clawmem.memory.writing import Writing, fact_change, writing
from clawmem.model.caller import Caller
from clawmem.model.change import Change
from clawmem.model.dates import stamp
from clawmem.model.proposal import APPROVED, OPEN, REJECTED, Proposal, Ruling
from clawmem.vault.adoption import own_identity
from clawmem.vault.vault import Vault

A_PERSON = "a person"


class Listed(NamedTuple):
    """Proposals, oldest first, and a sentence for each that cannot be read."""

    proposals: tuple[Proposal, ...]
    notices: tuple[str, ...] = ()


class Shown(NamedTuple):
    """A proposal and the facts it falls on, as they stand now; those that are gone are left out."""

    proposal: Proposal
    targets: tuple[Placed, ...]
    notices: tuple[str, ...] = ()


class Reviewed(NamedTuple):
    """The proposal as it was decided, the facts that changed with what happened to each, the commit (None where it
    had been decided so before), asides."""

    proposal: Proposal
    facts: tuple[Placed, ...]
    outcome: tuple[str, ...]
    commit: str | None
    notices: tuple[str, ...] = ()


def list_proposals(vault: Vault, every: bool = False, kind: str | None = None) -> Listed:
    """What waits for a person, or every proposal there ever was, of one kind or of all."""
    filed = read_proposals(vault)
    return Listed(tuple(choose(filed, every, kind)), filed.unreadable)


def show_proposal(vault: Vault, reference: str) -> Shown:
    """One proposal, by its id or a unique prefix."""
    filed = read_proposals(vault)
    proposal = find_proposal(filed, reference)

    def shown(index: Index) -> Shown:
        found = by_ids(index, (one.id for one in proposal.targets))
        return Shown(proposal, tuple(found.values()), (*map(str, filed.unreadable), *index.notices))

    return answered(vault, shown)


def approve(vault: Vault, reference: str, caller: Caller, reason: str | None = None, beside: bool = False) -> Reviewed:
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
        author = change.author or own_identity(vault)
        commits = work.commit([change._replace(author=author)])
        return Reviewed(decided, plan.facts, plan.outcome, commits[-1], work.notices)


def reject(vault: Vault, reference: str, caller: Caller, reason: str) -> Reviewed:
    """Turn a proposal down, for a reason that is kept with it."""
    because = check_reason(reason)
    with writing(vault, caller, "review") as work:
        proposal = _waiting(work, reference, REJECTED)
        if proposal.status == REJECTED:
            return _again(work, proposal)
        decided = _decided(proposal, REJECTED, caller, because)
        commits = work.commit([_change(work, decided, Plan((), (), {}, proposal.id), "rejected")])
        return Reviewed(decided, (), (), commits[-1], work.notices)


def _waiting(work: Writing, reference: str, wanted: str) -> Proposal:
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


def _again(work: Writing, proposal: Proposal) -> Reviewed:
    said = f"{proposal.id} was {proposal.status} already{_when(proposal)}"
    return Reviewed(proposal, (), (), None, (*work.notices, said))


def _decided(proposal: Proposal, status: str, caller: Caller, reason: str | None) -> Proposal:
    return proposal._replace(status=status, decided=Ruling(caller.agent or A_PERSON, stamp(caller.now), reason))


def _change(work: Writing, proposal: Proposal, plan: Plan, word: str) -> Change:
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
