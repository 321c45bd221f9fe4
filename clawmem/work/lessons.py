"""Lessons of agents: a person accepts one, and it is served without the warning that nobody reviewed it."""

from __future__ import annotations

from clawmem.errors import Refused
from clawmem.index.search.lookup import PlacedFact, find_fact
from clawmem.memory.facts.revise import ReviseResult, check_reason
from clawmem.memory.scope import fact_change, items_write, with_fact
from clawmem.memory.writing import writing
from clawmem.model.facts.reach import is_workflow
from clawmem.model.language.dates import stamp
from clawmem.model.proposals.proposal import APPROVED
from clawmem.model.proposals.quarantine import is_approved, with_approval
from clawmem.model.proposals.routes import RoutedItem
from clawmem.model.records.caller import Caller
from clawmem.review.reviewers import person_decider
from clawmem.vault.vault import Vault

LESSON = "lesson"


def accept_lesson(vault: Vault, reference: str, caller: Caller, reason: str | None = None) -> ReviseResult:
    """Mark a lesson as accepted by a person, in one commit; no commit if it is accepted already.

    Raise NotPermitted for a person who is not a reviewer of it, and Refused if the fact is no current lesson."""
    because = check_reason(reason)
    with writing(vault, caller, "lesson accept") as work:
        placed = find_fact(work.index, reference)
        fact = next(
            (other_fact for other_fact in work.facts(placed.entity) if other_fact.id == placed.fact.id), placed.fact
        )
        if fact.category != LESSON or not fact.is_current:
            raise Refused(f"{fact.id} is no lesson that holds.", "`clawmem lesson list` shows the lessons.")
        if is_approved(fact):
            return ReviseResult((PlacedFact(fact, placed.entity),), ("noop",), None, work.notices)
        item = RoutedItem(LESSON, placed.entity, fact.workflow if is_workflow(fact.workflow) else None)
        who = person_decider(vault, item, fact.id)
        accepted = with_approval(fact, who.by, stamp(caller.now))
        writes = items_write(placed.entity, with_fact(work.facts(placed.entity), accepted))
        change = fact_change(caller, "lesson accept", placed.entity, fact.fact, writes, [accepted])
        items = [("Decision", APPROVED), ("Reviewed-by", who.by), *([("Reason", because)] if because else [])]
        change = change._replace(trailers=(*change.trailers, *items), signed=who.signed)
        commits = work.commit([change])
        return ReviseResult((PlacedFact(accepted, placed.entity),), ("updated",), commits[-1], work.notices)
