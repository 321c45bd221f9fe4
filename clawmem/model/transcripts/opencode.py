"""Read sessions that `opencode export` writes: `{info, messages: [{info, parts}]}`, and transcripts of Cursor's agent:
lines of `{role, message: {content}}`, without ids and times.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from clawmem.model.transcripts.message import Message, SkippedLine, role_of, time_of, word
from clawmem.model.transcripts.parts import Read, TranscriptState, answered, called, said


def fits(record: Mapping[str, Any]) -> bool:
    """Return whether a record is such a session."""
    info, messages = record.get("info"), record.get("messages")
    if not isinstance(info, dict) or not isinstance(messages, list):
        return False
    return all(isinstance(message, dict) and "info" in message and "parts" in message for message in messages)


def read(line: int, record: Mapping[str, Any], thread: TranscriptState) -> Iterator[Message | SkippedLine]:
    """Yield the events of the session, in order."""
    info = record.get("info")
    info = info if isinstance(info, dict) else {}
    folder = info.get("directory")
    about = {"cwd": folder} if isinstance(folder, str) and folder else {}
    messages = record.get("messages")
    for message in messages if isinstance(messages, list) else ():
        try:
            yield from _message(line, message, word(info.get("id")), about, thread)
        except (ValueError, AttributeError) as problem:
            yield SkippedLine(line, str(problem))


def _message(
    line: int, record: Mapping[str, Any], session: str | None, about: Mapping[str, str], thread: TranscriptState
) -> Iterator[Message]:
    info, parts = record.get("info"), record.get("parts")
    if not isinstance(info, dict) or not isinstance(parts, list):
        raise ValueError("it is not a message with its parts")
    time = info.get("time")
    when = time_of(time.get("created")) if isinstance(time, dict) else None
    base = Message(
        line, role_of(info.get("role")), "", when, None, session, word(info.get("id")), metadata=dict(about) or None
    )
    # What the program itself added to a message is marked as synthetic.
    texts = [part for part in parts if _is_text(part) and not part.get("synthetic") and not part.get("ignored")]
    yield from said(base, [{"type": "text", "text": part.get("text")} for part in texts], thread)
    for part in parts:
        if isinstance(part, dict) and part.get("type") == "tool":
            state = part.get("state")
            state = state if isinstance(state, dict) else {}
            yield called(base, part.get("tool"), state.get("input"), part.get("callID"), thread)
            failed = state.get("status") == "error"
            output = state.get("error") if failed else state.get("output")
            yield from answered(base, output, part.get("callID"), thread, part.get("tool"), failed)


def _is_text(part: Any) -> bool:
    return isinstance(part, dict) and part.get("type") == "text"


# What the person typed stands in this element, beside what the program adds.
_QUERY = re.compile(r"<user_query>\s*(.*?)\s*</user_query>", re.DOTALL)


def fits_cursor(record: Mapping[str, Any]) -> bool:
    """Return whether a record is a line of such a transcript."""
    message = record.get("message")
    return isinstance(record.get("role"), str) and isinstance(message, dict) and "content" in message


def read_cursor(line: int, record: Mapping[str, Any], thread: TranscriptState) -> Read:
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
