"""Facts in words and as JSON, the same in every verb."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from clawmem.model.codec import fact_to_record
from clawmem.model.fact import Fact

_DID = {
    "added": "remembered",
    "noop": "known already",
    "updated": "superseded",
    "merged": "merged",
    "retracted": "retracted",
    "proposed": "waits for review",
}


def fact_data(fact: Fact, entity: str) -> dict[str, Any]:
    """A fact as callers of --json get it: its record and the entity it stands in."""
    return {**fact_to_record(fact), "entity": entity}


def fact_line(fact: Fact, entity: str) -> str:
    """A fact on one line: id, statement, place, and what is not as usual about it."""
    remarks = [entity]
    if fact.status != "active":
        remarks.append(fact.status)
    if fact.valid_from:
        remarks.append(f"since {fact.valid_from}")
    if fact.valid_to:
        remarks.append(f"until {fact.valid_to}")
    return f"{fact.id}  {fact.fact}  ({', '.join(remarks)})"


def outcome_lines(rows: Iterable[tuple[str, Fact, str]], commit: str | None) -> Sequence[str]:
    """What happened to each fact, then the commit that holds it."""
    lines = [f"{_DID[outcome]}: {fact_line(fact, entity)}" for outcome, fact, entity in rows]
    lines.append(f"commit {commit[:12]}" if commit else "nothing changed, so there is no commit")
    return lines
