"""Further evidence of a fact: the events beside its source event in which it was said, too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clawmem.model.facts.fact import Fact

ALSO_FROM = "also_from"
MOST = 8
"""The most events that are kept."""


def evidence_row(fact: Fact) -> dict[str, Any]:
    """Return the source event of a fact, and its words there, as a row of further evidence."""
    span = list(fact.source_span) if fact.source_span else None
    row = {"source_event": fact.source_event, "source_text": fact.source_text, "source_span": span}
    return {key: value for key, value in row.items() if value is not None}


def further_rows(fact: Fact) -> list[dict[str, Any]]:
    """Return the rows of further evidence of a fact."""
    value = (fact.metadata or {}).get(ALSO_FROM)
    return [dict(record) for record in value if isinstance(record, Mapping)] if isinstance(value, list | tuple) else []


def further_events(fact: Fact) -> tuple[str, ...]:
    """Return the ids of the events of a fact's further evidence."""
    found = (further_row.get("source_event") for further_row in further_rows(fact))
    return tuple(dict.fromkeys(text for text in found if isinstance(text, str)))


def with_evidence_of(known: Fact, again: Fact) -> Fact:
    """Return a fact with the source event of another that says the same, if the fact does not have it yet."""
    events = (known.source_event, *further_events(known))
    if again.source_event is None or again.source_event in events or len(events) > MOST:
        return known
    rows = [*further_rows(known), evidence_row(again)]
    return known._replace(metadata={**(known.metadata or {}), ALSO_FROM: rows})
