"""The log of failures, and which of its records belong to a guardrail."""

from __future__ import annotations

from collections.abc import Sequence

from clawmem.errors import ClawmemError, IncompleteAnswer
from clawmem.index.search.lookup import PlacedFact
from clawmem.model.pages.guardrail_page import holds_for
from clawmem.model.records.bounds import refuse_unread
from clawmem.model.records.failure import LOG_PATH, FailureRecord, parse_failures
from clawmem.vault.strict_yaml import parse_yaml
from clawmem.vault.vault import Vault


def read_failures(vault: Vault) -> tuple[FailureRecord, ...]:
    """Return all recorded failures in file order. Raise Unreadable if the log cannot be read."""
    return failures_in(vault.read(LOG_PATH))


def failures_or_notice(vault: Vault) -> tuple[tuple[FailureRecord, ...], tuple[str, ...]]:
    """Return the recorded failures, or a notice that they cannot be read."""
    try:
        return read_failures(vault), ()
    except ClawmemError as problem:
        return (), (IncompleteAnswer(problem.message),)


def mode_of(placed: PlacedFact) -> str | None:
    """Return the failure mode of a guardrail, or None."""
    value = (placed.fact.details or {}).get("failure_mode")
    return value if isinstance(value, str) else None


def evidence_of(placed: PlacedFact) -> tuple[str, ...]:
    """Return the ids of what led to a guardrail."""
    items = (placed.fact.details or {}).get("evidence")
    return tuple(text for text in items if isinstance(text, str)) if isinstance(items, list) else ()


def came_back(placed: PlacedFact, records: Sequence[FailureRecord]) -> list[FailureRecord]:
    """Return the failures of a guardrail's mode and agents since it holds, oldest first."""
    fact, led = placed.fact, evidence_of(placed)
    found = [
        record
        for record in records
        if record.mode == mode_of(placed)
        and holds_for(fact, record.agent)
        and record.timestamp >= fact.timestamp
        and record.id not in led
    ]
    return sorted(found, key=lambda record: (record.timestamp, record.id))


def failures_in(data: bytes | None) -> tuple[FailureRecord, ...]:
    """Return the failures in the bytes of the log. Raise Unreadable."""
    refuse_unread(data, LOG_PATH)
    return parse_failures(data or b"", LOG_PATH, parse_yaml)
