"""Facts in words and as JSON, the same in every verb."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from clawmem.faces.parts.command import Answer
from clawmem.model.codec import fact_to_record
from clawmem.model.fact import SUPERSEDED, Fact, since_or_from
from clawmem.model.ids import PROPOSAL_PREFIX
from clawmem.model.quarantine import quarantined, quarantined_event
from clawmem.model.trust import EXTERNAL, OUTSIDE, trust_of_source

if TYPE_CHECKING:
    from clawmem.memory.revise import Revised
    from clawmem.model.event import Event
    from clawmem.serving.brief import Brief
    from clawmem.serving.context import Context

OUTCOME = {"added", "noop", "updated", "merged", "retracted", "proposed"}
REVISED = {"facts": ["fact"], "outcome": [OUTCOME], "commit": (str, None)}
"""The shape of what a verb says that keeps or revises facts: an outcome for each fact, and the last commit."""

_DID = {
    "added": "remembered",
    "noop": "known already",
    "updated": "updated",
    "merged": "merged",
    "retracted": "retracted",
    "proposed": "waits for review",
}


def fact_data(fact: Fact, entity: str) -> dict[str, Any]:
    """A fact as callers of --json get it: its record and the entity it stands in; one that waits for a person under
    the id of its proposal, one from outside that reads as an order with the rule that says so."""
    record = {**fact_to_record(fact), "entity": entity}
    rule = quarantined(fact)
    if fact.id.startswith(PROPOSAL_PREFIX):
        record.update(status="proposed", proposal=fact.id)
    elif rule:
        record["quarantined"] = rule
    return record


def context_data(done: Context | Brief) -> dict[str, Any]:
    """A context as callers of --json get it."""
    return {
        "text": done.text,
        "token_count": done.tokens,
        "counted_by": done.counted_by,
        "facts": list(done.facts),
        "left_out": [{"section": title, "lines": count} for title, count in done.left_out],
    }


def fact_line(fact: Fact, entity: str) -> str:
    """A fact on one line: id, statement, place, and what is not as usual about it."""
    remarks = [entity]
    if fact.status != "active":
        remarks.append(fact.status)
    remarks += warnings(fact)
    if fact.valid_from:
        remarks.append(f"{since_or_from(fact)} {fact.valid_from}")
    if fact.valid_to:
        remarks.append(f"until {fact.valid_to}")
    return f"{fact.id}  {fact.fact}  ({', '.join(remarks)})"


def warnings(fact: Fact) -> list[str]:
    """What a reader must know of where a fact comes from: from outside, or so that it waits for a person."""
    rule = quarantined(fact)
    if rule:
        return [f"quarantined, from {fact.trust} and reads as an order: {rule}"]
    return [OUTSIDE] if fact.trust == EXTERNAL else []


def event_warning(event: Event) -> str:
    """The same of something said, to be put behind it; empty where there is nothing to know."""
    remarks = [OUTSIDE] if trust_of_source(event.source or "") == EXTERNAL else []
    remarks += ["quarantined: it reads as an order"] if quarantined_event(event) else []
    return f"  ({', '.join(remarks)})" if remarks else ""


def outcome_lines(rows: Iterable[tuple[str, Fact, str]], commit: str | None) -> Sequence[str]:
    """What happened to each fact, then the commit that holds it."""
    lines = [f"{_did(outcome, fact)}: {fact_line(fact, entity)}" for outcome, fact, entity in rows]
    lines.append(f"commit {commit[:12]}" if commit else "nothing changed, so there is no commit")
    return lines


def _did(outcome: str, fact: Fact) -> str:
    if outcome in ("updated", "merged") and fact.status == SUPERSEDED:
        return "superseded"
    return _DID[outcome]


def revised(done: Revised) -> Answer:
    """The answer of a verb that revises facts; its shape is REVISED."""
    data = {
        "facts": [fact_data(one.fact, one.entity) for one in done.facts],
        "outcome": list(done.outcome),
        "commit": done.commit,
    }
    rows = [(outcome, one.fact, one.entity) for outcome, one in zip(done.outcome, done.facts, strict=True)]
    return Answer(data, outcome_lines(rows, done.commit), done.notices)
