"""Read sessions of Claude Code: one JSON object per line with a `message`, and lines of internal records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clawmem.model.transcripts.message import Message, SkippedLine, first, origin_of, time_of, word
from clawmem.model.transcripts.parts import Read, TranscriptState, answered, said, text_of

_SPOKEN = ("user", "assistant")
# Internal records of the program, in which nobody speaks.
_QUIET = frozenset(
    "summary file-history-snapshot file-history-delta queue-operation progress attachment last-prompt mode "
    "permission-mode custom-title ai-title agent-name agent-color agent-setting tag pr-link worktree-state "
    "cost-state bridge-session relocated started result hook hook_response stream_event "
    "rate_limit_event fork-context-ref "
    "content-replacement attribution-snapshot saved_hook_context atis-latch tools-used "
    "api-request api-request-shape api-request-blob".split()
)
_MARKS = ("sessionId", "session_id", "uuid", "parentUuid", "leafUuid", "messageId", "isSidechain")


def fits(record: Mapping[str, Any]) -> bool:
    """Return whether a record is a line of such a session."""
    known = record.get("type") in (*_SPOKEN, "system") or record.get("type") in _QUIET
    return known and any(mark in record for mark in _MARKS)


def read(line: int, record: Mapping[str, Any], thread: TranscriptState) -> Read:
    """Yield the events of one line. Text that the program wrote as the user is marked as recalled."""
    kind = record.get("type")
    if kind in _QUIET:
        return []
    if kind not in (*_SPOKEN, "system"):
        # Each release writes more records of its own; one that is said has a message and stands in the thread.
        is_said = isinstance(record.get("message"), dict) and "uuid" in record
        return [SkippedLine(line, f"its type '{kind}' is not known")] if is_said else []
    try:
        when = time_of(record.get("timestamp"))
    except ValueError as problem:
        return [SkippedLine(line, str(problem))]
    base = Message(
        line, str(kind), "", when, None, word(first(record, "sessionId", "session_id")), word(record.get("uuid")),
        recalled=_by_program(record), metadata=_project(record),
    )  # fmt: skip
    if kind == "system":
        return said(base, record.get("content"), thread)
    message = record.get("message")
    if not isinstance(message, dict):
        return [SkippedLine(line, "it has no message")]
    content = message.get("content")
    if record.get("isSidechain"):
        return said(_aside(base), content, thread)
    origin = origin_of(record) if kind == "user" else None
    if origin and origin.role == "tool" and text_of(content).strip():
        return answered(base, content, first(record, "sourceToolUseID", "tool_use_id"), thread)
    if origin and origin.doubtful:
        base = base._replace(trust="external")
    return said(base, content, thread)


def _aside(base: Message) -> Message:
    """Return the event for a sidechain, in which the agent speaks to another agent as the user."""
    return base._replace(role="assistant", metadata={**(base.metadata or {}), "sidechain": True})


def _project(record: Mapping[str, Any]) -> dict[str, str] | None:
    """Return the folder and the branch in which a line was written, as far as it says them."""
    found = {"cwd": record.get("cwd"), "branch": record.get("gitBranch")}
    return {key: value for key, value in found.items() if isinstance(value, str) and value} or None


def _by_program(record: Mapping[str, Any]) -> bool:
    message = record.get("message")
    model = message.get("model") if isinstance(message, dict) else None
    origin = record.get("origin")
    another = isinstance(origin, dict) and origin.get("kind") not in (None, "human", "user")
    hook = record.get("type") == "user" and origin_of({**record, "role": "user"}).recalled
    marked = any(record.get(key) for key in ("isMeta", "isCompactSummary", "isSynthetic", "isVisibleInTranscriptOnly"))
    return bool(marked or another or hook or model == "<synthetic>")
