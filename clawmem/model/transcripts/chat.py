"""Read chats as objects with role and content: one message per object, or a list of them under `messages`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from clawmem.model.records.event import CHANNEL, MARK, PARTICIPANTS
from clawmem.model.transcripts.message import Message, SkippedLine, first, is_app, origin_of, time_of, word
from clawmem.model.transcripts.parts import Read, TranscriptState, answered, called, said

_TEXT_KEYS = ("content", "text", "message")
_TIME_KEYS = ("timestamp", "time", "created_at", "create_time", "created", "ts")
_ID_KEYS = ("id", "external_id", "dia_id", "uuid")
_PLACES = ("project", "cwd")
_WHOM = (MARK, CHANNEL, *PARTICIPANTS)
_SESSION_KEYS = ("session", "session_id", "conversation_id", "thread_id")


def fits_message(record: Mapping[str, Any]) -> bool:
    """Return whether a record is a message: it has content, and a role or no other kind of type."""
    if is_app(record):
        return True
    content = first(record, *_TEXT_KEYS)
    if not isinstance(content, str | list) and "tool_calls" not in record:
        return False
    return isinstance(record.get("role"), str) or "type" not in record


def fits_chat(record: Mapping[str, Any]) -> bool:
    """Return whether a record is a whole chat."""
    return isinstance(record.get("messages"), list)


def read_message(line: int, record: Mapping[str, Any], thread: TranscriptState) -> Read:
    """Yield the events of a message `{role, content, timestamp?, speaker?, session?, id?, source?, tool_calls?}`."""
    try:
        base = _base(line, record)
    except ValueError as problem:
        return [SkippedLine(line, str(problem))]
    content = first(record, *_TEXT_KEYS)
    if base.kind == "app":
        return [_of_app(base, record, content)]
    if base.role == "tool":
        identity = first(record, "tool_call_id", *_ID_KEYS)
        tool = None if "speaker" in record else record.get("name")
        base = base._replace(speaker=None) if tool else base
        events = list(answered(base, content, identity, thread, tool))
    else:
        events = [*said(base, content, thread), *_calls(base, record, thread)]
    return events if events or isinstance(content, list) else [SkippedLine(line, "it has no content")]


def read_chat(line: int, record: Mapping[str, Any], thread: TranscriptState) -> Iterator[Message | SkippedLine]:
    """Yield the events of a chat `{messages: [...], id?, created?}`; its values are defaults for the messages."""
    messages = record.get("messages")
    if not isinstance(messages, list):
        yield SkippedLine(line, "it has no list of messages")
        return
    outer = {
        **{key: record[key] for key in (*_PLACES, *_WHOM) if key in record},
        "session": first(record, *_SESSION_KEYS, "id", "uuid"),
        "timestamp": first(record, *_TIME_KEYS),
    }
    for number, message in enumerate(messages, 1):
        if not isinstance(message, dict):
            yield SkippedLine(line, f"message {number} of it is not a JSON object")
            continue
        inherited = {key: value for key, value in outer.items() if value is not None}
        for event in read_message(line, {**inherited, **message}, thread):
            yield event if isinstance(event, Message) else SkippedLine(line, f"message {number} of it: {event.reason}")


def _base(line: int, record: Mapping[str, Any]) -> Message:
    named = word(first(record, "speaker", "name"))
    about = origin_of(record)
    base = Message(
        line,
        about.role,
        "",
        time_of(first(record, *_TIME_KEYS)),
        None if about.kind == "app" else named,
        word(first(record, *_SESSION_KEYS)),
        word(first(record, *_ID_KEYS)),
        kind=about.kind,
        recalled=about.recalled,
        metadata={**{key: place for key in _PLACES if (place := word(record.get(key)))}, **_whom(record)} or None,
        source=word(record.get("source")) if isinstance(record.get("source"), str) else None,
    )
    # A message without a role needs a name, or its speaker is unknown.
    unknown = record.get("role") is None and named is None and base.role == "user"
    return base._replace(trust="external" if unknown or about.doubtful else None)


def _whom(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return for whom a message is, as far as its keys say so: names, a channel, or a mark of its kinds of content."""
    found: dict[str, Any] = {}
    for key in _WHOM:
        value = record.get(key)
        value = first(value, "name", "id") if key == CHANNEL and isinstance(value, dict) else value
        if value and (key == MARK or isinstance(value, str)):
            found[key] = value
        elif key in PARTICIPANTS and isinstance(value, list):
            names = [word(first(name, "name", "id") if isinstance(name, dict) else name) for name in value]
            found |= {key: [name for name in names if name]} if any(names) else {}
    return found


def _of_app(base: Message, record: Mapping[str, Any], content: Any) -> Message:
    """Yield an app event, with its text or else the JSON of its name and properties."""
    name = word(first(record, "name", "event"))
    text = content if isinstance(content, str) and content.strip() else json.dumps(record, ensure_ascii=False)
    return base._replace(text=text, metadata={**(base.metadata or {}), **({"name": name} if name else {})} or None)


def _calls(base: Message, record: Mapping[str, Any], thread: TranscriptState) -> Iterator[Message]:
    calls = record.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        if isinstance(call, dict):
            function = call.get("function")
            inner = function if isinstance(function, dict) else call
            yield called(base, inner.get("name"), inner.get("arguments"), call.get("id"), thread)
    old = record.get("function_call")
    if isinstance(old, dict):
        yield called(base, old.get("name"), old.get("arguments"), None, thread)
