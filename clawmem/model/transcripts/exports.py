"""Read the data exports of ChatGPT and of Claude, and chats as objects with role and content: one message per object,
or a list of them under `messages`. Read tables, calendars and address books: one message for each row, entry or card,
with what each value is.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import date, timedelta
from itertools import chain, zip_longest
from typing import Any

from clawmem.model.facts.fact import EXTERNAL
from clawmem.model.language.text import one_line
from clawmem.model.records.event import CHANNEL, ENTRY, FOR_SOME, MARK, PARTICIPANTS
from clawmem.model.transcripts.message import (
    Message,
    Read,
    SkippedLine,
    TranscriptState,
    answered,
    called,
    first,
    is_app,
    list_in,
    object_in,
    origin_of,
    role_of,
    said,
    time_of,
    word,
)
from clawmem.model.transcripts.notes import NumberedLine

_THINKING = frozenset({"thoughts", "reasoning_recap"})
_REMEMBERED = frozenset({"user_editable_context", "model_editable_context"})


def fits(record: Mapping[str, Any]) -> bool:
    """Return whether a record is a conversation of this export."""
    return isinstance(record.get("mapping"), dict)


def read(line: int, record: Mapping[str, Any], thread: TranscriptState) -> Iterator[Message | SkippedLine]:
    """Yield the events of one conversation, oldest first."""
    if not fits(record):
        raise ValueError("it has no mapping of messages")
    session = word(first(record, "conversation_id", "id"))
    for number, message in enumerate(branch(record), 1):
        try:
            when = time_of(first(message, "create_time")) or time_of(record.get("create_time"))
            yield from _message(line, message, when, session, thread)
        except ValueError as problem:
            yield SkippedLine(line, f"message {number} of '{record.get('title') or session}': {problem}")


def branch(record: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the messages from the root to the current node, or along the last children if there is none."""
    nodes = record["mapping"]
    here = record.get("current_node")
    if here not in nodes:
        here = _last_leaf(nodes)
    path: list[Mapping[str, Any]] = []
    seen = set()
    while isinstance(nodes.get(here), dict) and here not in seen:
        seen.add(here)
        message = nodes[here].get("message")
        path += [message] if isinstance(message, dict) else []
        here = nodes[here].get("parent")
    return path[::-1]


def _last_leaf(nodes: Mapping[str, Any]) -> str | None:
    here = next((key for key, node in nodes.items() if isinstance(node, dict) and not node.get("parent")), None)
    seen = set()
    while here is not None and here not in seen:
        seen.add(here)
        children = [child for child in (nodes[here].get("children") or ()) if isinstance(nodes.get(child), dict)]
        here = children[-1] if children else here
    return here


def _message(
    line: int, message: Mapping[str, Any], when: str | None, session: str | None, thread: TranscriptState
) -> Iterator[Message]:
    author, about, content = (object_in(message.get(key)) for key in ("author", "metadata", "content"))
    kind = content.get("content_type")
    hidden = bool(about.get("is_visually_hidden_from_conversation") or about.get("is_user_system_message"))
    role = role_of(author.get("role") or "user")
    if role == "user" and kind not in (None, "text", "multimodal_text", *_REMEMBERED):
        role = "tool"
    base = Message(
        line, role, "", when, None, session, word(message.get("id")),
        recalled=hidden or kind in _REMEMBERED, trust=None if author.get("role") else "external",
    )  # fmt: skip
    text = _text(content)
    recipient = message.get("recipient") or "all"
    if kind in _THINKING or not text.strip():
        return
    if base.role == "tool":
        yield from answered(base, text, None, thread, author.get("name"), kind == "system_error")
    elif recipient != "all":
        yield called(base, recipient, text, message.get("id"), thread)
    else:
        yield base._replace(text=text)


def _text(content: Mapping[str, Any]) -> str:
    parts = content.get("parts")
    if isinstance(parts, list):
        found = [part if isinstance(part, str) else part.get("text") for part in parts if isinstance(part, str | dict)]
        return "\n".join(text for text in found if isinstance(text, str) and text)
    if content.get("content_type") == "user_editable_context":
        texts = [content.get("user_profile"), content.get("user_instructions")]
        return "\n".join(text for text in texts if isinstance(text, str))
    found = first(content, "text", "result", "model_set_context")
    return found if isinstance(found, str) else ""


# Read the data export of Claude: conversations with their messages in order under `chat_messages`, and the chats of
# designs with theirs under `messages`.


def fits_claude(record: Mapping[str, Any]) -> bool:
    """Return whether a record is a conversation of this export."""
    return isinstance(_claude_messages(record), list)


def _claude_messages(record: Mapping[str, Any]) -> Any:
    designed = record.get("messages") if "uuid" in record and "project" in record else None
    return record.get("chat_messages", designed)


def read_claude(line: int, record: Mapping[str, Any], thread: TranscriptState) -> Iterator[Message | SkippedLine]:
    """Yield the events of one conversation, in order. Attached files are not stored."""
    if not fits_claude(record):
        raise ValueError("it has no list of chat messages")
    session = word(record.get("uuid"))
    name = record.get("name") or record.get("title") or session
    for number, message in enumerate(_claude_messages(record), 1):
        try:
            yield from _claude_message(line, message, record, session, thread)
        except ValueError as problem:
            yield SkippedLine(line, f"message {number} of '{name}': {problem}")


def _claude_message(
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


_TEXT_KEYS = ("content", "text", "message")
_TIME_KEYS = ("timestamp", "time", "created_at", "create_time", "created", "ts")
_ID_KEYS = ("id", "external_id", "dia_id", "uuid")
_PLACES = ("project", "cwd")
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
    base = _base(line, record)
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
    if not events and not isinstance(content, list):
        raise ValueError("it has no content")
    return events


def read_chat(line: int, record: Mapping[str, Any], thread: TranscriptState) -> Iterator[Message | SkippedLine]:
    """Yield the events of a chat `{messages: [...], id?, created?}`; its values are defaults for the messages."""
    messages = record.get("messages")
    if not isinstance(messages, list):
        raise ValueError("it has no list of messages")
    outer = {
        **{key: record[key] for key in (*_PLACES, *FOR_SOME) if key in record},
        "session": first(record, *_SESSION_KEYS, "id", "uuid"),
        "timestamp": first(record, *_TIME_KEYS),
    }
    for number, message in enumerate(messages, 1):
        if not isinstance(message, dict):
            yield SkippedLine(line, f"message {number} of it is not a JSON object")
            continue
        inherited = {key: value for key, value in outer.items() if value is not None}
        try:
            yield from read_message(line, {**inherited, **message}, thread)
        except ValueError as problem:
            yield SkippedLine(line, f"message {number} of it: {problem}")


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
    in_channel = about.doubtful and not unknown and not origin_of({**record, CHANNEL: None}).doubtful
    return base._replace(trust="external" if unknown or about.doubtful else None, in_channel=in_channel)


def _whom(record: Mapping[str, Any]) -> dict[str, Any]:
    """Return for whom a message is, as far as its keys say so: names, a channel, or a mark of its kinds of content."""
    found: dict[str, Any] = {}
    for key in FOR_SOME:
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
    for call in list_in(record.get("tool_calls")):
        if isinstance(call, dict):
            function = call.get("function")
            inner = function if isinstance(function, dict) else call
            yield called(base, inner.get("name"), inner.get("arguments"), call.get("id"), thread)
    old = record.get("function_call")
    if isinstance(old, dict):
        yield called(base, old.get("name"), old.get("arguments"), None, thread)


_DELIMITERS = ",;\t|"
# A cell that is an address, a number or a day is no heading.
_VALUE = re.compile(r".*@.*|[\d\s.,:/+()-]+")
ENTRIES = re.compile(r"\s*BEGIN:V(?:CALENDAR|CARD)\b", re.IGNORECASE)
"""How a calendar or an address book begins."""
_LABELS = {
    "summary": "", "dtstart": "start", "dtend": "end", "due": "due", "location": "place", "rrule": "repeats",
    "organizer": "organizer", "attendee": "with", "description": "about", "fn": "name", "nickname": "nickname",
    "org": "company", "title": "title", "tel": "phone", "email": "email", "adr": "address", "bday": "birthday",
    "url": "url", "note": "note", "status": "status",
}  # fmt: skip
_TIMES, _PARTS = ("start", "end", "due", "birthday"), ("company", "address")
_PROPERTY = re.compile(r"(?:[\w-]+\.)?([\w-]+)((?:;(?:\"[^\"]*\"|[^\":])*)?):(.*)")
_TIME = re.compile(r"(\d{4})-?(\d\d)-?(\d\d)(?:T(\d\d):?(\d\d):?\d*(Z?))?")


def read_table(lines: Iterable[NumberedLine], role: str = "note") -> Iterator[Message | SkippedLine]:
    """Yield each row of a CSV table, its values with the headings of their columns, if the first row has such."""
    texts = (f"{line.text}\n" for line in lines)
    first = next(texts, "")
    rows = csv.reader(chain([first], texts), delimiter=max(_DELIMITERS, key=first.count), skipinitialspace=True)
    headings: list[str] = []
    try:
        for number, row in enumerate(rows):
            cells = [one_line(cell) for cell in row]
            if number == 0 and not any(map(_VALUE.fullmatch, cells)):
                headings = cells
            else:
                yield from _entry_message(rows.line_num, role, zip_longest(headings, cells, fillvalue=""))
    except csv.Error as problem:
        yield SkippedLine(rows.line_num, f"from here on it is no table ({problem})")


def read_entries(lines: Iterable[NumberedLine], role: str = "note") -> Iterator[Message]:
    """Yield each entry of a calendar at its time, as it is written there, and each card of an address book. What
    somebody is invited to is from outside."""
    inside: list[str] = []
    pairs: list[tuple[str, str]] = []
    text = re.sub(r"\n[ \t]", "", "\n".join(line.text for line in lines))  # a long line goes on after a space
    for number, match in enumerate(map(_PROPERTY.fullmatch, text.split("\n")), 1):
        name, about, value = (match[1].lower(), match[2], match[3].strip()) if match else ("", "", "")
        in_entry = inside[-1:] in (["VEVENT"], ["VTODO"], ["VCARD"])
        if name == "begin":
            inside.append(value.upper())
            pairs = pairs if in_entry else []  # an alarm stands within its entry
        elif name == "end":
            yield from _entry_message(number, role, pairs) if in_entry else ()
            del inside[-1:]
        elif in_entry and name in _LABELS and (name != "status" or value.upper() == "CANCELLED"):
            pairs.append((_LABELS[name], _readable(_LABELS[name], about, value)))


def _entry_message(number: int, role: str, pairs: Iterable[tuple[str, str]]) -> Iterator[Message]:
    """Yield the values as one message of the day on which it starts or is due, if one of them has text."""
    found = [(label, value) for label, value in pairs if value]
    text = ", ".join(f"{label}: {value}" if label else value for label, value in found)
    message = Message(number, role, text, metadata={ENTRY: number})
    labels = dict(found)
    with suppress(ValueError):  # no day of the calendar
        message = message._replace(timestamp=time_of(labels.get("start", labels.get("due"))))
    if text:
        yield message._replace(trust=EXTERNAL if "organizer" in labels else None)


def _readable(label: str, about: str, value: str) -> str:
    """Return a value for people: a time, the name of somebody, how often something repeats, or a text."""
    if label == "end" and len(value) == 8 and value.isdecimal():
        with suppress(ValueError, OverflowError):  # an entry of whole days ends before this day
            return (date.fromisoformat(value) - timedelta(days=1)).isoformat()
    if label in _TIMES and (time := _TIME.fullmatch(value)):
        return f"{time[1]}-{time[2]}-{time[3]}" + (f" {time[4]}:{time[5]}{time[6]}" if time[4] else "")
    if label in ("organizer", "with"):
        found = re.search(r';CN="?([^";]+)', about, re.IGNORECASE)
        return found[1] if found else value.rpartition(":")[2]
    if label == "repeats":
        return value.partition("FREQ=")[2].partition(";")[0].lower()
    value = ", ".join(filter(None, re.split(r"(?<!\\);", value))) if label in _PARTS else value
    return one_line(re.sub(r"\\(.)", r"\1", re.sub(r"\\[nN]", " ", value)))
