"""Escalations: questions of an evaluation that wait for a person, and how they are answered without the queue."""

from __future__ import annotations

from clawmem.memory.review.proposals import read_proposals
from clawmem.memory.scope import WriteScope
from clawmem.model.language.dates import stamp
from clawmem.model.proposals.proposal import APPROVED, OPEN, REJECTED, Proposal, ReviewDecision
from clawmem.model.records.task import PASS, Task

ESCALATION = "escalation"
BY_HAND = "by hand"


def open_escalations(work: WriteScope, slug: str) -> list[Proposal]:
    """Return the escalations of a task that wait for a person."""
    filed = read_proposals(work.vault, work.read).proposals
    return [
        proposal
        for proposal in filed
        if proposal.kind == ESCALATION and proposal.status == OPEN and (proposal.details or {}).get("task") == slug
    ]


def answered_escalations(work: WriteScope, task: Task) -> list[Proposal]:
    """Return the open escalations of a closed task with the decision that closed it."""
    decision = ReviewDecision(task.decided_by or BY_HAND, task.decided or stamp(work.caller.now), "decided at the task")
    status = APPROVED if task.ruling == PASS else REJECTED
    return [escalation._replace(status=status, decided=decision) for escalation in open_escalations(work, task.slug)]
