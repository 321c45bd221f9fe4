"""Review: list, show, approve and reject proposals, one commit for each decision, and choose whose commits count."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

from clawmem.errors import NotPermitted, Refused
from clawmem.extension import named
from clawmem.index.refresh import open_index, refresh_outside_facts, run_query
from clawmem.index.search.lookup import PlacedFact, by_ids
from clawmem.index.tables.fact_marks import stakes
from clawmem.index.tables.store import Index
from clawmem.memory.conflicts import with_questions_of_person
from clawmem.memory.facts.revise import check_reason
from clawmem.memory.history.why import find_event
from clawmem.memory.proposals import (
    find_proposal,
    proposal_trailers,
    proposal_writes,
    read_proposal,
    read_proposals,
    select_proposals,
)
from clawmem.memory.scope import WriteScope, fact_change
from clawmem.memory.writing import writing
from clawmem.model.facts.codec import fact_to_record
from clawmem.model.facts.fact import Fact
from clawmem.model.history.comparison import bare
from clawmem.model.language.dates import stamp
from clawmem.model.language.text import check_statement, one_line
from clawmem.model.proposals.proposal import (
    ADD,
    APPROVED,
    BY_KIND,
    OPEN,
    REJECTED,
    REWORDED,
    Proposal,
    ReviewDecision,
    about_winner,
    as_recorded,
    proposal_to_record,
)
from clawmem.model.proposals.quarantine import Acceptance
from clawmem.model.proposals.routes import read_routes
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change
from clawmem.model.records.event import Event
from clawmem.review.approval import ApprovalPlan, plan_approval, plan_rejection
from clawmem.review.reviewers import Decider, check_decider, item_of, may_decide, reviewers_of
from clawmem.vault.edits.adoption import user_identity
from clawmem.vault.state.own_commits import read_acceptance, write_acceptance
from clawmem.vault.vault import Vault


class ProposalList(NamedTuple):
    """Proposals, oldest first, and a notice for each unreadable one. `all_filed` are all proposals of the vault."""

    proposals: tuple[Proposal, ...]
    notices: tuple[str, ...] = ()
    all_filed: tuple[Proposal, ...] = ()


class ProposalDetails(NamedTuple):
    """A proposal and the current state of its target facts. Targets that no longer exist are left out.

    `reviewers` are the people who may decide; none means every person. `version` changes with the proposal and with
    each of its target facts."""

    proposal: Proposal
    targets: tuple[PlacedFact, ...]
    notices: tuple[str, ...] = ()
    reviewers: tuple[str, ...] = ()
    version: str = ""


class OpenProposals(NamedTuple):
    """Some of the open proposals with their details, oldest first, and the number of all open ones."""

    details: tuple[ProposalDetails, ...]
    total: int
    notices: tuple[str, ...] = ()


class CitedEvent(NamedTuple):
    """A fact and the event that it cites, if that is in the ledger."""

    fact: Fact
    event: Event | None


class ReviewOutcome(NamedTuple):
    """The decided proposal, the changed facts with the outcome of each, and the commit.

    `commit` is None if the same decision was made before.
    """

    proposal: Proposal
    facts: tuple[PlacedFact, ...]
    outcome: tuple[str, ...]
    commit: str | None
    notices: tuple[str, ...] = ()


def list_proposals(
    vault: Vault, include_decided: bool = False, kind: str | None = None, mine: Caller | None = None
) -> ProposalList:
    """Return the open proposals, or all of them with `include_decided`, limited to one `kind` if given.

    With `mine`, return only those that the caller, a person, may decide. Raise NotPermitted if the caller is an agent.
    """
    filed = read_proposals(vault)
    found = tuple(select_proposals(filed, include_decided, kind))
    if mine is not None and mine.agent:
        raise NotPermitted(
            f"--mine lists what a person may decide, and {mine.agent} is an agent.", "`clawmem review list` lists all."
        )
    if mine is None or not read_routes(vault.settings.words("review.routes")):
        return ProposalList(found, filed.unreadable, filed.proposals)
    who = user_identity(vault)

    def of_person(index: Index) -> ProposalList:
        own = tuple(proposal for proposal in found if may_decide(vault, who, item_of(index, proposal)))
        return ProposalList(own, (*filed.unreadable, *index.notices), filed.proposals)

    return run_query(vault, of_person)


def show_proposal(vault: Vault, reference: str) -> ProposalDetails:
    """Return one proposal by its id or a unique prefix of it."""
    filed = read_proposals(vault)
    proposal = find_proposal(filed, reference)
    shown = run_query(vault, lambda index: _details(vault, index, proposal))
    return shown._replace(notices=(*map(str, filed.unreadable), *shown.notices))


def present(vault: Vault, proposal_id: str) -> ProposalDetails:
    """Return one proposal as `show_proposal` does, without reading the others. The id is complete."""
    proposal = read_proposal(vault, proposal_id)
    return run_query(vault, lambda index: _details(vault, index, proposal))


def show_open(vault: Vault, first: int, most: int) -> OpenProposals:
    """Return the open proposals from number `first` (0 is the oldest) on, at most `most` of them."""
    filed = read_proposals(vault)

    def shown(index: Index) -> OpenProposals:
        details = tuple(_details(vault, index, proposal) for proposal in filed.open[first : first + most])
        return OpenProposals(details, len(filed.open), (*filed.unreadable, *index.notices))

    return run_query(vault, shown)


def evidence(vault: Vault, proposal_id: str) -> tuple[CitedEvent, ...]:
    """Return the evidence of a proposal and of the facts that it changes, each with the event that it quotes."""
    proposal = read_proposal(vault, proposal_id)

    def cited(index: Index) -> tuple[CitedEvent, ...]:
        targets = [placed.fact for placed in by_ids(index, (target.id for target in proposal.targets)).values()]
        facts = [*([proposal.fact] if proposal.fact else []), *targets]
        found = (
            CitedEvent(fact, find_event(vault, index, fact.source_event) if fact.source_event else None)
            for fact in facts
        )
        return tuple(cited_event for cited_event in found if cited_event.event or cited_event.fact.source_text)

    return run_query(vault, cited)


def _details(vault: Vault, index: Index, proposal: Proposal) -> ProposalDetails:
    targets = tuple(by_ids(index, (target.id for target in proposal.targets)).values())
    reviewers = reviewers_of(vault, item_of(index, proposal))
    return ProposalDetails(proposal, targets, tuple(index.notices), reviewers, _version(proposal, targets))


def _version(proposal: Proposal, targets: Sequence[PlacedFact]) -> str:
    """Return a checksum of a proposal and of what its target facts say; accesses of these change nothing."""
    from hashlib import sha256  # only where a decision says what it is about

    facts = [(placed.entity, fact_to_record(bare(placed.fact))) for placed in targets]
    return sha256(json.dumps((proposal_to_record(proposal), facts), sort_keys=True).encode()).hexdigest()


def approve(
    vault: Vault,
    reference: str,
    caller: Caller,
    reason: str | None = None,
    beside: bool = False,
    keep: str | None = None,
    seen: str | None = None,
    text: str | None = None,
) -> ReviewOutcome:
    """Approve a proposal and apply its change.

    With `beside`, a fact that contradicts others is kept with them, and the conflict is settled. `keep` names the
    fact for which a conflict is decided, if it is not the one that the proposal says. `text` replaces the statement of
    a proposed new fact; its evidence stays. Raise NotPermitted if the caller may not decide it, and Refused if the
    proposal no longer applies, was rejected before, or is not in the version that was `seen`.
    """
    because = check_reason(reason)
    with writing(vault, caller, "review") as work:
        proposal = _find(work, reference, APPROVED, seen)
        if proposal.status == APPROVED:
            return _already_decided(work, proposal)
        who = check_decider(vault, work.index, proposal, caller)
        proposal = _reworded(proposal, text) if text is not None else proposal
        plan = plan_approval(work, proposal, because, beside, keep, who.by)
        proposal = about_winner(proposal, plan.facts[0].fact, plan.facts[0].entity) if keep is not None else proposal
        decided = _decided(proposal, APPROVED, caller, because, who, plan.winner)
        return _committed(work, as_recorded(decided), with_effects(work, decided, plan), "approved", who)


def _reworded(proposal: Proposal, text: str) -> Proposal:
    if proposal.does != ADD or proposal.fact is None:
        raise Refused("Only a proposed new fact can be stored in other words.", "Approve it without --text.")
    says = check_statement(text, "text")
    own = proposal.fact._replace(fact=says, subject=None, predicate=None, object=None, relation_phrase=None)
    details = {**(proposal.details or {}), REWORDED: True}
    return proposal._replace(says=says, fact=own, details=details)


def reject(vault: Vault, reference: str, caller: Caller, reason: str, seen: str | None = None) -> ReviewOutcome:
    """Reject a proposal. The reason is stored with it.

    Of a conflict of two stored facts, the one that was proposed to hold is withdrawn. Raise NotPermitted if the caller
    may not decide it, and Refused if the proposal was approved before, or is not in the version that was `seen`.
    """
    because = check_reason(reason)
    with writing(vault, caller, "review") as work:
        proposal = _find(work, reference, REJECTED, seen)
        if proposal.status == REJECTED:
            return _already_decided(work, proposal)
        who = check_decider(vault, work.index, proposal, caller)
        plan = plan_rejection(work, proposal, because)
        decided = _decided(proposal, REJECTED, caller, because, who, plan.winner)
        return _committed(work, decided, with_effects(work, decided, plan), "rejected", who)


def _committed(work: WriteScope, decided: Proposal, plan: ApprovalPlan, word: str, who: Decider) -> ReviewOutcome:
    gone = [placed.fact.id for placed in plan.facts if not placed.fact.is_current]
    new = plan.facts[0].fact if plan.supersedes else None
    change = with_questions_of_person(work, _change(work, decided, plan, word), gone, new, None)
    # Other machines may trust this person, so the commit names them as author.
    author = change.author or user_identity(work.vault)
    commits = work.commit([change._replace(author=author, signed=who.signed)])
    return ReviewOutcome(decided, plan.facts, plan.outcome, commits[-1], work.notices)


def with_effects(work: WriteScope, decided: Proposal, plan: ApprovalPlan) -> ApprovalPlan:
    """Return the plan with what the kind of the proposal adds to a decision, such as a page to compile."""
    function = BY_KIND[decided.kind].on_decision
    if not function:
        return plan
    return plan._replace(writes={**plan.writes, **named(function)(work, decided, plan.facts)})


def _find(work: WriteScope, reference: str, wanted: str, seen: str | None) -> Proposal:
    """Return the proposal if it is open or already has the wanted status. Raise Refused for another decision, and if it
    is not in the version that was `seen`."""
    proposal = read_proposal(work.vault, reference, work.read)
    if proposal.status == OPEN:
        if seen not in (None, _details(work.vault, work.index, proposal).version):
            raise Refused(
                f"{proposal.id}, or a fact that it is about, has changed since it was shown.",
                f"`clawmem review show {proposal.id}` shows it as it is now.",
            )
        return proposal
    if proposal.status == wanted and seen is None:
        return proposal
    raise Refused(
        f"{proposal.id} is already {proposal.status}{_decision_note(proposal)}.",
        f"`git log --grep {proposal.id}` finds the commit; `clawmem undo COMMIT` reopens the proposal.",
    )


def _decision_note(proposal: Proposal) -> str:
    decision = proposal.decided
    return f", by {decision.by} at {decision.at}" if decision else ""


def _already_decided(work: WriteScope, proposal: Proposal) -> ReviewOutcome:
    notice = f"{proposal.id} is already {proposal.status}{_decision_note(proposal)}"
    return ReviewOutcome(proposal, (), (), None, (*work.notices, notice))


def _decided(
    proposal: Proposal, status: str, caller: Caller, reason: str | None, who: Decider, winner: str | None = None
) -> Proposal:
    decision = ReviewDecision(who.by, stamp(caller.now), reason, who.delegated_by, who.signed, winner)
    return proposal._replace(status=status, decided=decision)


def _decision_trailers(proposal: Proposal) -> tuple[tuple[str, str], ...]:
    """Return the trailers that say who decided what, and why."""
    decision = proposal.decided
    if decision is None:
        return ()
    rows = (
        ("Decision", proposal.status),
        ("Reviewed-by", decision.by),
        ("Delegated-by", decision.delegated_by),
        ("Reason", decision.reason),
    )
    return tuple((key, one_line(value)) for key, value in rows if value)


def _change(work: WriteScope, proposal: Proposal, plan: ApprovalPlan, word: str) -> Change:
    because = proposal.decided.reason if proposal.decided else None
    change = fact_change(
        work.caller,
        "review",
        plan.place,
        f"{word}: {proposal.says}" + (f" (because: {because})" if because else ""),
        {**plan.writes, **proposal_writes([proposal])},
        [placed.fact for placed in plan.facts],
        entities=[placed.entity for placed in plan.facts],
        supersedes=plan.supersedes,
    )
    rows = change.trailers if plan.facts else tuple(row for row in change.trailers if row != ("Entity", plan.place))
    items = (*rows, *proposal_trailers([proposal]), *_decision_trailers(proposal))
    return change._replace(trailers=items, body=f"It waited because: {proposal.why}")


def trust(
    vault: Vault, authors: tuple[str, ...] = (), keys: tuple[str, ...] = (), remove: bool = False
) -> tuple[Acceptance, tuple[tuple[str, str], ...]]:
    """Accept these authors and keys on this machine, or stop accepting them with `remove`. Without any, only list.

    Return the accepted authors and keys, and the ids of the facts that other authors changed in an important way, each
    with what is at stake. The list is stored outside the files of the vault, so no remote can change it.
    """
    before = read_acceptance(vault)
    if authors or keys:
        named = tuple(check_statement(author, "author") for author in authors)
        write_acceptance(vault, _changed(before, named, keys, remove))
        refresh_outside_facts(vault)
    index = open_index(vault)
    try:
        return read_acceptance(vault), tuple(sorted(stakes(index).items()))
    finally:
        index.close()


def _changed(before: Acceptance, authors: tuple[str, ...], keys: tuple[str, ...], remove: bool) -> Acceptance:
    pairs = ((before.authors, authors), (before.keys, keys))
    if remove:
        return Acceptance(*(tuple(text for text in had if text not in items) for had, items in pairs))
    return Acceptance(*(tuple(dict.fromkeys((*had, *items))) for had, items in pairs))
