"""Read the data export of Claude: conversations with their messages in order under `chat_messages`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from clawmem.model.transcripts.message import Message, SkippedLine, first, role_of, time_of, word
from clawmem.model.transcripts.parts import TranscriptState, said


def fits(record: Mapping[str, Any]) -> bool:
    """Return whether a record is a conversation of this export."""
    return isinstance(record.get("chat_messages"), list)


def read(line: int, record: Mapping[str, Any], thread: TranscriptState) -> Iterator[Message | SkippedLine]:
    """Yield the events of one conversation, in order. Attached files are not stored."""
    if not fits(record):
        yield SkippedLine(line, "it has no list of chat messages")
        return
    session = word(record.get("uuid"))
    for number, message in enumerate(record["chat_messages"], 1):
        try:
            yield from _message(line, message, record, session, thread)
        except ValueError as problem:
            yield SkippedLine(line, f"message {number} of '{record.get('name') or session}': {problem}")


def _message(
    line: int, message: Any, record: Mapping[str, Any], session: str | None, thread: TranscriptState
) -> Iterator[Message]:
    if not isinstance(message, dict):
        raise ValueError("it is not a JSON object")
    when = time_of(first(message, "created_at", "updated_at") or record.get("created_at"))
    role = role_of(first(message, "sender", "role") or "nobody")
    base = Message(line, role, "", when, None, session, word(message.get("uuid")))
    events = list(said(base, message.get("content"), thread))
    # Older exports have the text outside the content.
    yield from events or said(base, message.get("text"), thread)
