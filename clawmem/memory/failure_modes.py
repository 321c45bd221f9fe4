"""The failure modes of a vault: the built-in ones, and what its own file says."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from clawmem.errors import ClawmemError, IncompleteAnswer, NotFound
from clawmem.index.search.lookup import PlacedFact
from clawmem.model.facts.fact_words import holds_for
from clawmem.model.records.failure import (
    LOG_PATH,
    MODES_PATH,
    FailureMode,
    FailureRecord,
    parse_failures,
    parse_modes,
    with_own,
)
from clawmem.model.records.strict_json import refuse_unread
from clawmem.vault.exchange.create import template_folder
from clawmem.vault.strict_yaml import parse_yaml
from clawmem.vault.vault import Vault


class KnownModes(NamedTuple):
    """The modes by id, and a notice if the vault's own file cannot be read, so that only the built-in ones are
    known."""

    modes: dict[str, FailureMode]
    notices: tuple[str, ...] = ()


@cache
def built_in_modes() -> dict[str, FailureMode]:
    """Return the modes that the template of a vault defines."""
    return parse_modes((template_folder() / MODES_PATH).read_bytes(), MODES_PATH, parse_yaml)


def read_modes(vault: Vault) -> KnownModes:
    """Return the failure modes of the vault."""
    try:
        data = vault.read(MODES_PATH)
        return KnownModes(with_own(built_in_modes(), parse_modes(data, MODES_PATH, parse_yaml) if data else {}))
    except ClawmemError as problem:
        return KnownModes(dict(built_in_modes()), (IncompleteAnswer(problem.message),))


def find_mode(known: KnownModes, name: str) -> FailureMode:
    """Return a mode. Raise NotFound, naming the existing ones."""
    if name not in known.modes:
        raise NotFound(
            f"There is no failure mode '{name}'.",
            f"The modes are {', '.join(known.modes)}. More can be added to {MODES_PATH}.",
        )
    return known.modes[name]


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
