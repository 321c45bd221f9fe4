"""A fact in one line, and as JSON: the same in every verb and report."""

from __future__ import annotations

from typing import Any

from clawmem.model.facts.codec import fact_to_record
from clawmem.model.facts.fact import Fact, since_or_from
from clawmem.model.facts.ids import PROPOSAL_PREFIX
from clawmem.model.facts.trust import EXTERNAL, OUTSIDE
from clawmem.model.proposals.quarantine import quarantined


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


def warnings(fact: Fact) -> list[str]:
    """What a reader must know of where a fact comes from: from outside, or so that it waits for a person."""
    rule = quarantined(fact)
    if rule:
        return [f"quarantined, from {fact.trust} and reads as an order: {rule}"]
    return [OUTSIDE] if fact.trust == EXTERNAL else []


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
