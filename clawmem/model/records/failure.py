"""Failure modes (`governance/failures.yaml`) and recorded failures (`governance/failures.jsonl`).

A mode names one way in which agents fail: the signs, and what to do, in order. Modes that match one of the Multi-Agent
System Failure Taxonomy (MAST) carry its codes. Source of the codes: Cemri et al., "Why Do Multi-Agent LLM Systems
Fail?", arXiv:2503.13657, figure 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, NamedTuple

from clawmem.model.forms import FilledText, TimeText, WrongValue, no_other_keys, read_record
from clawmem.model.records.parsing import Yaml, keyed_records, read_log

MODES_PATH = "governance/failures.yaml"
LOG_PATH = "governance/failures.jsonl"
PREFIX = "fail_"

BUILT_IN = (
    *("context-exhaustion", "loop", "verification-divergence", "tool-failure", "stale-memory"),
    *("conflicting-memory", "budget-spent", "collision", "poisoned-input"),
)
"""The modes that every vault has; its file may change them and add more."""

MAST = {
    "FM-1.1": "Disobey task specification", "FM-1.2": "Disobey role specification", "FM-1.3": "Step repetition",
    "FM-1.4": "Loss of conversation history", "FM-1.5": "Unaware of termination conditions",
    "FM-2.1": "Conversation reset", "FM-2.2": "Fail to ask for clarification", "FM-2.3": "Task derailment",
    "FM-2.4": "Information withholding", "FM-2.5": "Ignored other agent's input",
    "FM-2.6": "Reasoning-action mismatch", "FM-3.1": "Premature termination",
    "FM-3.2": "No or incomplete verification", "FM-3.3": "Incorrect verification",
}  # fmt: skip


@no_other_keys
class FailureMode(NamedTuple):
    """A mode: what it is, its signs, the recovery actions in order, the rule that is proposed as a guardrail where it
    repeats, and the codes of MAST. A value that the vault's file leaves out is None or empty."""

    id: str
    about: FilledText | None = None
    signs: tuple[FilledText, ...] = ()
    actions: tuple[FilledText, ...] = ()
    guardrail: FilledText | None = None
    mast: tuple[Annotated[str, tuple(MAST)], ...] = ()


class FailureRecord(NamedTuple):
    """One recorded failure. `timestamp` is ISO 8601 in UTC; `agent` is None for a person; `proposal` is the guardrail
    proposal that it filed."""

    id: str
    timestamp: TimeText
    mode: str
    agent: str | None = None
    session: str | None = None
    workflow: str | None = None
    project: str | None = None
    task: str | None = None
    note: str | None = None
    proposal: str | None = None


def parse_modes(data: bytes, path: str, yaml: Yaml) -> dict[str, FailureMode]:
    """Read the modes by id. Raise Unreadable, with the line and the key, if one has the wrong form."""
    return keyed_records(_mode, "failure mode", data, path, yaml)


def _mode(name: str, entry: Any) -> FailureMode:
    mode = read_record(FailureMode, entry, id=name)
    for key in ("signs", "actions"):
        if name not in BUILT_IN and not getattr(mode, key):
            raise WrongValue("is missing or empty", key)
    return mode


def with_own(built_in: Mapping[str, FailureMode], own: Mapping[str, FailureMode]) -> dict[str, FailureMode]:
    """Return the built-in modes with what the vault's own file says of them, then its other modes."""
    stated = {name: {key: value for key, value in mode._asdict().items() if value} for name, mode in own.items()}
    every = {**dict(built_in), **{name: FailureMode(name) for name in own if name not in built_in}}
    return {name: mode._replace(**stated.get(name, {})) for name, mode in every.items()}


def guardrail_rule(mode: FailureMode) -> str:
    """Return the rule that is proposed where a mode repeats: its own, else its first action at its first sign."""
    return mode.guardrail or f"At the first sign of {mode.id} ({mode.signs[0].rstrip('.')}): {mode.actions[0]}"


def parse_failures(data: bytes, path: str, yaml: Yaml) -> tuple[FailureRecord, ...]:
    """Read the log of failures. Raise Unreadable, with the line and the key."""
    return read_log(FailureRecord, data, path, yaml)
