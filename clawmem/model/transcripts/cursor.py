"""Read transcripts of Cursor's agent: lines of `{role, message: {content}}`, without ids and times."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from clawmem.model.transcripts.message import Message, SkippedLine, role_of, time_of
from clawmem.model.transcripts.parts import Read, TranscriptState, said

# What the person typed stands in this element, beside what the program adds.
_QUERY = re.compile(r"<user_query>\s*(.*?)\s*</user_query>", re.DOTALL)


def fits(record: Mapping[str, Any]) -> bool:
    """Return whether a record is a line of such a transcript."""
    message = record.get("message")
    return isinstance(record.get("role"), str) and isinstance(message, dict) and "content" in message


def read(line: int, record: Mapping[str, Any], thread: TranscriptState) -> Read:
    """Yield the events of one line."""
    message = record.get("message")
    if not isinstance(message, dict):
        return [SkippedLine(line, "it has no message")]
    try:
        base = Message(line, role_of(record.get("role")), "", time_of(record.get("timestamp")))
    except ValueError as problem:
        return [SkippedLine(line, str(problem))]
    found = said(base, message.get("content"), thread)
    return [
        other_message._replace(text=_typed(other_message.text)) if other_message.role == "user" else other_message
        for other_message in found
    ]


def _typed(text: str) -> str:
    queries = _QUERY.findall(text)
    return "\n".join(queries) if queries else text
