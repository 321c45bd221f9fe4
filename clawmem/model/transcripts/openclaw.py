"""Sessions of OpenClaw: a header line, then entries, of which those of type `message` are spoken."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clawmem.model.transcript import Message, Skipped, first, role_of, time_of, word
from clawmem.model.transcripts.parts import Read, Thread, answered, said

_QUIET = frozenset("model_change thinking_level_change custom label session_info".split())
# What the program tells the model about earlier talk, or lays before it from elsewhere.
_RETOLD = frozenset("compaction branch_summary custom_message".split())
_RETOLD_ROLES = frozenset("compactionSummary branchSummary custom".split())


def fits(record: Mapping[str, Any]) -> bool:
    """Whether a record is a line of such a session."""
    kind = record.get("type")
    if kind == "session":
        return "id" in record
    if kind == "message":
        message = record.get("message")
        return isinstance(message, dict) and "role" in message
    return kind in _QUIET | _RETOLD and "id" in record


def read(line: int, record: Mapping[str, Any], thread: Thread) -> Read:
    """The events of one line; a header names the session of those that follow."""
    kind = record.get("type")
    if kind == "session":
        thread.session = word(record.get("id"))
        return []
    if kind in _QUIET:
        return []
    message = record if kind in _RETOLD else record.get("message")
    if kind != "message" and kind not in _RETOLD:
        return [Skipped(line, f"its type '{kind}' is not known")]
    if not isinstance(message, dict):
        return [Skipped(line, "it has no message")]
    try:
        when = time_of(first(record, "timestamp")) or time_of(message.get("timestamp"))
        return _entry(Message(line, "system", "", when, None, thread.session, word(record.get("id"))), message, thread)
    except ValueError as problem:
        return [Skipped(line, str(problem))]


def _entry(base: Message, message: Mapping[str, Any], thread: Thread) -> Read:
    role = message.get("role")
    if role is None or role in _RETOLD_ROLES:
        return said(base._replace(recalled=True), first(message, "summary", "content"), thread)
    if role == "bashExecution":
        return answered(base, message.get("output"), None, thread, "bash", bool(message.get("exitCode")))
    base = base._replace(role=role_of(role))
    if base.role != "tool":
        return said(base, message.get("content"), thread)
    call, tool = message.get("toolCallId"), message.get("toolName")
    return answered(base, message.get("content"), call, thread, tool, bool(message.get("isError")))
