"""Show a fact as one line or as JSON; every verb and report uses the same form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from clawmem.model.facts.codec import fact_to_record
from clawmem.model.facts.fact import PROPOSAL_PREFIX, Fact, since_or_from
from clawmem.model.facts.labels import UNREVIEWED, because, change_labels, trust_label
from clawmem.model.facts.reach import PROJECT, project_name, scope_of
from clawmem.model.language.dates import minute
from clawmem.model.lifecycle.premises import doubt_words
from clawmem.model.proposals.quarantine import quarantine_rule
from clawmem.model.records.entity import is_candidate_place


def fact_data(fact: Fact, entity: str, against: Sequence[str] = ()) -> dict[str, Any]:
    """Return a fact as JSON output: its record and its entity, without a `said_at` that is its timestamp.

    A fact that waits for a person gets the status `proposed` and the id of its proposal. A quarantined one gets the
    rule that matched. A fact of an agent that no person approved gets `reviewed` false. `against` are the ids of the
    facts that it is in conflict with.
    """
    record = {**fact_to_record(fact), "entity": entity}
    if fact.metadata and fact.metadata.get("said_at") == fact.timestamp:
        metadata = {key: value for key, value in fact.metadata.items() if key != "said_at"}
        record = {key: value for key, value in {**record, "metadata": metadata}.items() if value or key != "metadata"}
    rule = quarantine_rule(fact)
    if fact.id.startswith(PROPOSAL_PREFIX):
        record.update(status="proposed", proposal=fact.id)
    elif rule:
        record["quarantined"] = rule
    if against:
        record["conflicts_with"] = list(against)
    if trust_label(fact) == UNREVIEWED:
        record["reviewed"] = False
    doubt = doubt_words(fact)
    if doubt:
        record["in_doubt"] = doubt
    return record


def origin_warnings(fact: Fact) -> list[str]:
    """Return what is to be known about a fact's origin: how far to trust it, or that it is quarantined."""
    rule = quarantine_rule(fact)
    if rule:
        return [f"quarantined: from {fact.trust} and reads as an order: {rule}"]
    trust = trust_label(fact)
    return [trust] if trust else []


def counter_words(fact: Fact) -> list[str]:
    """Return how often sessions reported a lesson as useful and as harmful, if they did."""
    if fact.category != "lesson" or not fact.metadata:
        return []
    seen = helpful_and_harmful(fact)
    return [f"helpful {seen[0]}, harmful {seen[1]}"] if any(seen) else []


def helpful_and_harmful(fact: Fact) -> tuple[int, int]:
    """Return how often sessions reported a fact as useful, and how often as harmful: the counters that ACE keeps for
    each entry of a playbook (Zhang et al., Agentic Context Engineering, 2025)."""
    record = (fact.metadata or {}).get("outcomes")
    counts = record if isinstance(record, Mapping) else {}
    found = [counts.get(key) for key in ("useful", "harmful")]
    useful, harmful = (number if isinstance(number, int) else 0 for number in found)
    return useful, harmful


def project_words(fact: Fact) -> list[str]:
    """Return the name of the project that alone sees the fact, as `project NAME`; empty for a wider scope."""
    return [f"project {project_name(fact.project)}"] if fact.project and scope_of(fact) == PROJECT else []


def fact_remarks(fact: Fact, entity: str, against: Sequence[str] = ()) -> list[str]:
    """Return everything unusual about a fact. `against` are the ids of the facts that it is in conflict with."""
    remarks = ["waits for promotion"] if is_candidate_place(entity) else []
    remarks += project_words(fact)
    if fact.status != "active":
        remarks.append(fact.status)
    remarks += [*origin_warnings(fact), *change_labels(fact), *counter_words(fact)]
    if fact.valid_from:
        remarks.append(f"{since_or_from(fact)} {minute(fact.valid_from)}")
    if fact.valid_to:
        remarks.append(f"until {minute(fact.valid_to)}")
    remarks += because(fact)
    if against:
        remarks.append(f"in conflict with {', '.join(against)}, not settled")
    return remarks


def fact_line(fact: Fact, entity: str, against: Sequence[str] = ()) -> str:
    """Return a fact as one line: id, statement, entity, and everything unusual about it."""
    return f"{fact.id}  {fact.fact}  ({', '.join((entity, *fact_remarks(fact, entity, against)))})"
