"""Read the data export of Claude: conversations with their messages in order under `chat_messages`, and the chats of
designs with theirs under `messages`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from clawmem.model.transcripts.message import Message, SkippedLine, first, role_of, time_of, word
from clawmem.model.transcripts.parts import TranscriptState, said


def fits(record: Mapping[str, Any]) -> bool:
    """Return whether a record is a conversation of this export."""
    return isinstance(_messages(record), list)


def _messages(record: Mapping[str, Any]) -> Any:
    designed = record.get("messages") if "uuid" in record and "project" in record else None
    return record.get("chat_messages", designed)


def read(line: int, record: Mapping[str, Any], thread: TranscriptState) -> Iterator[Message | SkippedLine]:
    """Yield the events of one conversation, in order. Attached files are not stored."""
    if not fits(record):
        yield SkippedLine(line, "it has no list of chat messages")
        return
    session = word(record.get("uuid"))
    name = record.get("name") or record.get("title") or session
    for number, message in enumerate(_messages(record), 1):
        try:
            yield from _message(line, message, record, session, thread)
        except ValueError as problem:
            yield SkippedLine(line, f"message {number} of '{name}': {problem}")


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
