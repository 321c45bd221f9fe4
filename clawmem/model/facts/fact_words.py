"""Show a fact as one line or as JSON; every verb and report uses the same form."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from clawmem.model.facts.claim_check import failure_of
from clawmem.model.facts.codec import fact_to_record
from clawmem.model.facts.fact import (
    EXTERNAL,
    OUTSIDE_WARNING,
    PINNED,
    PROPOSAL_PREFIX,
    RETRACTED,
    Fact,
    is_never_true,
    is_revoked,
    since_or_from,
)
from clawmem.model.facts.reach import PROJECT, is_workflow, project_name, scope_of
from clawmem.model.language.dates import day_of, minute
from clawmem.model.language.text import one_line
from clawmem.model.lifecycle.premises import REVIEW_BY, deprecation, doubt_words, review_words
from clawmem.model.proposals.quarantine import is_approved, quarantine_rule
from clawmem.model.records.entity import is_agent, is_candidate_place, owner_of

# What is said beside a fact wherever it is served: how far to trust it, and whether something changed under it.

DECISION_MAKERS = "decision_makers"
"""The key of a decision's details that names who made it."""
PERSON = "person"
"""The key of a fact's metadata that names the person who stated it, in a vault that several share."""
UNREVIEWED = "agent, unreviewed"
CHECK_FAILED = "its check failed"
UNCERTAIN = "uncertain"
_DOUBTED = 0.5  # confidence below which a fact is shown as uncertain


def trust_label(fact: Fact) -> str | None:
    """Return the trust of a fact in words, or None for a fact of the user.

    What an agent stored is `unreviewed` until a person approves or confirms it."""
    if fact.trust == EXTERNAL:
        return OUTSIDE_WARNING
    if fact.trust == "agent":
        return "agent" if is_approved(fact) else UNREVIEWED
    return fact.trust if fact.trust not in (None, "user") else None


def person_of(fact: Fact) -> str | None:
    """Return the name of the person who stated a fact, None where it is not on record."""
    return _text((fact.metadata or {}).get(PERSON)) or None if fact.trust == "user" else None


def trust_words(fact: Fact) -> str:
    """Return where a fact comes from and how far to trust it, such as `from user` or `from outside, unverified`."""
    label = trust_label(fact) or person_of(fact) or "user"
    return label if label.startswith("from ") else f"from {label}"


def change_labels(fact: Fact) -> list[str]:
    """Return remarks on how far a fact holds: low confidence, what changed under it (its premises, its own end, its day
    for review, a failed check), and for a decision what became of it."""
    replaced = deprecation(fact) if fact.metadata else None
    doubt = doubt_words(fact) if fact.metadata else None
    return [
        *([UNCERTAIN] if fact.confidence is not None and fact.confidence < _DOUBTED else []),
        *([f"deprecated, until {replaced[1]}: now {replaced[0]}"] if replaced else []),
        *([doubt] if doubt else []),
        *([review_words(fact)] if fact.details and REVIEW_BY in fact.details else []),
        *([CHECK_FAILED] if fact.metadata and failure_of(fact) else []),
        *map(_outcome_words, outcomes_of(fact)[-1:]),
    ]


def outcomes_of(fact: Fact) -> list[Mapping[str, Any]]:
    """Return the outcomes of a decision, oldest first, each with `outcome`, `at`, and maybe `note` and `by`."""
    items = fact.details.get("outcomes") if fact.details else None
    return [record for record in items if isinstance(record, Mapping)] if isinstance(items, list) else []


def _outcome_words(record: Mapping[str, Any]) -> str:
    """Return an outcome such as `failed 2026-11-04: The motor stalled`, with the agent that reported it."""
    head = f"{_text(record.get('outcome'))} {day_of(_text(record.get('at')))}".strip()
    by, note = _text(record.get("by")), " ".join(_text(record.get("note")).split()).rstrip(".")
    return f"{head}{f', reported by {by}' if by else ''}{f': {note}' if note else ''}"


def labels(fact: Fact) -> list[str]:
    """Return all labels of a fact, the trust or the person who stated it first, and its reason last."""
    trust = trust_label(fact) or person_of(fact)
    return [*([trust] if trust else []), *change_labels(fact), *reason_labels(fact)]


# Reasons that clawmem gives itself, not a person: parts of their words.
_OF_RULES = (
    "settles conflicts by `", "two machines", "on another machine", "condensed into one claim", "active until this is",
)  # fmt: skip
_REPLACING = ("supersedes", "merges")
NOT_CHOSEN = "Not chosen"
_SAID = (("why", "Why"), ("because", "Because"))


def reasons_of(fact: Fact) -> Iterator[tuple[str, str]]:
    """Yield the reasons of a fact, each as a label and a text: why it was decided, what taught it, why it replaced
    another fact, why it was withdrawn, and each option that was not chosen, with the reason against it. The reason of
    a link to another fact says nothing of the fact alone."""
    details = fact.details or {}
    for key, label in _SAID:
        if text := _text(details.get(key)):
            yield label, text
    if change := reason_of_change(fact):
        yield "Because", change
    items = details.get("alternatives")
    for record in items if isinstance(items, list) else ():
        if isinstance(record, Mapping) and (option := _text(record.get("option"))):
            against = _text(record.get("why"))
            yield NOT_CHOSEN, f"{option}: {against}" if against else option


def because(fact: Fact) -> list[str]:
    """Return the reason that is told beside a fact wherever it is served, as `because ...`; empty if there is none."""
    items = [text for label, text in reasons_of(fact) if label != NOT_CHOSEN] if _has_reasons(fact) else []
    if fact.status == RETRACTED:
        items.reverse()  # why it was withdrawn, before why it was decided
    return [f"because {without_because(items[0]).rstrip('.')}"] if items else []


def reason_labels(fact: Fact) -> list[str]:
    """Return the reason of a fact as `because ...`, and each option that was not chosen as `rejected ...`."""
    options = [text for label, text in reasons_of(fact) if label == NOT_CHOSEN] if fact.details else []
    return [*because(fact), *(f"rejected {' '.join(option.split()).rstrip('.')}" for option in options)]


def without_because(reason: str) -> str:
    """Return a reason as one line, without the word that is written before reasons."""
    words = " ".join(reason.split())
    return words[8:] if words.lower().startswith("because ") else words


def searched_reasons(fact: Fact) -> list[str]:
    """Return the texts of all reasons of a fact, those of its links to other facts, too."""
    if not _has_reasons(fact):
        return []
    linked = [link.reason for link in fact.links if link.reason and not _is_of_rules(link.reason)]
    named = (
        f"alternative considered, rejected: {text}" if label == NOT_CHOSEN else text for label, text in reasons_of(fact)
    )
    makers = (fact.details or {}).get(DECISION_MAKERS)
    who = [f"decided by {makers}"] if isinstance(makers, str) else []
    return [*named, *who, *(f"decision {_outcome_words(record)}" for record in outcomes_of(fact)), *linked]


def _has_reasons(fact: Fact) -> bool:
    return bool(fact.details or fact.links or fact.status == RETRACTED)


def reason_of_change(fact: Fact) -> str:
    """Return why a person replaced or withdrew a fact, and why it was kept later; learned facts have only the reasons
    of the rules."""
    if fact.status == RETRACTED and not is_revoked(fact):
        remark = (fact.metadata or {}).get("retracted")
        return _text(remark.get("reason")) if isinstance(remark, Mapping) else ""
    if fact.source_event is not None:
        return ""
    found = (link.reason.strip() for link in fact.links if link.type in _REPLACING and link.reason)
    return "; ".join(dict.fromkeys(reason for reason in found if not _is_of_rules(reason)))


def _is_of_rules(reason: str) -> bool:
    return any(part in reason for part in _OF_RULES)


def _text(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""


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
    if fact.importance == PINNED:
        remarks.append("pinned")
    remarks += [*origin_warnings(fact), *change_labels(fact), *counter_words(fact)]
    never = is_never_true(fact)
    remarks += ["never true"] if never else []
    remarks += [f"{since_or_from(fact)} {minute(fact.valid_from)}"] if fact.valid_from and not never else []
    remarks += [f"until {minute(fact.valid_to)}"] if fact.valid_to and not never else []
    remarks += reason_labels(fact)
    if against:
        remarks.append(f"in conflict with {', '.join(against)}, not settled")
    return remarks


def fact_line(fact: Fact, entity: str, against: Sequence[str] = ()) -> str:
    """Return a fact as one line: id, statement, entity, and everything unusual about it."""
    return f"{fact.id}  {fact.fact}  ({', '.join((entity, *fact_remarks(fact, entity, against)))})"


# Pages of guardrails.

PAGE = "GUARDRAILS.md"
GLOBAL = f"governance/{PAGE}"
_NO_GUARDRAILS = "There are no guardrails.\n"


def agents_of(fact: Fact) -> tuple[str, ...]:
    """Return the agents for which a guardrail holds; none if it holds for everybody."""
    named = (fact.details or {}).get("agents")
    return tuple(text for text in named if isinstance(text, str)) if isinstance(named, list) else ()


def holds_for(fact: Fact, agent: str | None) -> bool:
    """Return whether a guardrail holds for an agent, or for a person (None)."""
    named = agents_of(fact)
    return not named or agent in named


def pages_of(fact: Fact, entity: str) -> tuple[str, ...]:
    """Return the pages on which a guardrail of an entity stands: those of its agents, else that of everybody."""
    owner = owner_of(entity)
    agents = (owner,) if owner else agents_of(fact)
    return tuple(f"agents/{agent}/{PAGE}" for agent in agents if is_agent(agent)) if agents else (GLOBAL,)


def guardrail_block(facts: Iterable[Fact]) -> str:
    """Return the lines of the guardrails, one paragraph each, in the given order."""
    return "".join(_guardrail_lines(fact) for fact in facts) or _NO_GUARDRAILS


def _guardrail_lines(fact: Fact) -> str:
    details = fact.details or {}
    items = [fact.id, f"since {fact.timestamp[:10]}"]
    items += [f"workflow {fact.workflow}"] if fact.workflow and is_workflow(fact.workflow) else []
    items += [f"project {fact.project}"] if fact.project else []
    items += [f"failure mode {details['failure_mode']}"] if isinstance(details.get("failure_mode"), str) else []
    why = one_line(details["why"]) if isinstance(details.get("why"), str) else ""
    return f"- {one_line(fact.fact)} ({', '.join(items)})\n" + (f"  Why: {why}\n" if why else "")
