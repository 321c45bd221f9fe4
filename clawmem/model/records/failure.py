"""Failure modes (`governance/failures.yaml`) and recorded failures (`governance/failures.jsonl`).

A mode names one way in which agents fail: the signs, and what to do, in order. Modes that match one of the Multi-Agent
System Failure Taxonomy (MAST) carry its codes. Source of the codes: Cemri et al., "Why Do Multi-Agent LLM Systems
Fail?", arXiv:2503.13657, figure 1.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from clawmem.errors import Unreadable
from clawmem.model.language.dates import moment_of
from clawmem.model.records.keyed_entries import EntryForm, KeyedEntry, keyed_entries
from clawmem.model.records.parsing import Yaml, json_lines

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

_FORM = EntryForm(("about", "signs", "actions", "guardrail", "mast"), "failure mode", "signs and actions")
_TEXTS = ("id", "timestamp", "mode", "agent", "session", "workflow", "project", "task", "note", "proposal")


class FailureMode(NamedTuple):
    """A mode: what it is, its signs, the recovery actions in order, the rule that is proposed as a guardrail where it
    repeats, and the codes of MAST. A value that the vault's file leaves out is None or empty."""

    id: str
    about: str | None = None
    signs: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()
    guardrail: str | None = None
    mast: tuple[str, ...] = ()


class FailureRecord(NamedTuple):
    """One recorded failure. `timestamp` is ISO 8601 in UTC; `agent` is None for a person; `proposal` is the guardrail
    proposal that it filed."""

    id: str
    timestamp: str
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
    return {one.id: _mode(one) for one in keyed_entries(data, path, yaml, _FORM)}


def _mode(entry: KeyedEntry) -> FailureMode:
    name, held = entry.id, entry.held
    for key in ("about", "guardrail"):
        if not isinstance(held.get(key), str | None) or held.get(key) == "":
            raise entry.wrong(key, "is not text")
    lists = {}
    for key in ("signs", "actions", "mast"):
        words = held.get(key) or []
        if not isinstance(words, list) or not all(isinstance(one, str) and one.strip() for one in words):
            raise entry.wrong(key, "is not a list of texts")
        lists[key] = tuple(words)
    for key in ("signs", "actions"):
        if name not in BUILT_IN and not lists[key]:
            raise entry.wrong(key, "is missing or empty")
    for code in lists["mast"]:
        if code not in MAST:
            raise entry.wrong("mast", f"contains '{code}', which is no code of MAST; they are FM-1.1 to FM-3.3")
    return FailureMode(name, held.get("about"), lists["signs"], lists["actions"], held.get("guardrail"), lists["mast"])


def with_own(built_in: Mapping[str, FailureMode], own: Mapping[str, FailureMode]) -> dict[str, FailureMode]:
    """Return the built-in modes with what the vault's own file says of them, then its other modes."""
    return {name: _over(built_in.get(name, FailureMode(name)), own.get(name)) for name in (*built_in, *own)}


def _over(one: FailureMode, own: FailureMode | None) -> FailureMode:
    if own is None:
        return one
    return one._replace(**{key: value for key, value in own._asdict().items() if value})


def guardrail_rule(mode: FailureMode) -> str:
    """Return the rule that is proposed where a mode repeats: its own, else its first action at its first sign."""
    return mode.guardrail or f"At the first sign of {mode.id} ({mode.signs[0].rstrip('.')}): {mode.actions[0]}"


def parse_failures(data: bytes, path: str, yaml: Yaml) -> tuple[FailureRecord, ...]:
    """Read the log of failures. Raise Unreadable, with the line, if one has no id, no mode or no time."""
    found = []
    lines = [number for number, line in enumerate(data.split(b"\n"), 1) if line.strip()]
    for number, record in zip(lines, json_lines(data, path, yaml), strict=True):
        if not isinstance(record, Mapping):
            raise Unreadable(path, number, "it is not a JSON object")
        for key in _TEXTS:
            if not isinstance(record.get(key), str if key in ("id", "timestamp", "mode") else str | None):
                raise Unreadable(path, number, f"the key '{key}' is missing or not text")
        try:
            moment_of(record["timestamp"])
        except ValueError:
            raise Unreadable(path, number, f"the key 'timestamp' is no time: {record['timestamp']}") from None
        values: dict[str, Any] = {key: record.get(key) for key in _TEXTS}
        found.append(FailureRecord(**values))
    return tuple(found)


def render_failures(records: Iterable[FailureRecord]) -> bytes:
    """Return the log, one failure a line."""
    return b"".join(failure_line(one) for one in records)


def failure_line(one: FailureRecord) -> bytes:
    """Return one line of the log."""
    held = {key: value for key, value in one._asdict().items() if value is not None}
    return (json.dumps(held, ensure_ascii=False) + "\n").encode()
