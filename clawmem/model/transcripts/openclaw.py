"""Read sessions of OpenClaw: a header line, then entries, of which those of type `message` are spoken."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from clawmem.model.transcripts.message import (
    Message,
    Read,
    TranscriptState,
    answered,
    first,
    is_of_group,
    object_in,
    origin_of,
    role_of,
    said,
    text_of,
    time_of,
    word,
)

_QUIET = frozenset("model_change thinking_level_change custom label session_info".split())
# Summaries of earlier conversation, and text that the program adds from elsewhere.
_RETOLD = frozenset("compaction branch_summary custom_message".split())
_RETOLD_ROLES = frozenset("compactionSummary branchSummary custom".split())


def fits(record: Mapping[str, Any]) -> bool:
    """Return whether a record is a line of such a session."""
    kind = record.get("type")
    if kind == "session":
        return "id" in record
    if kind == "message":
        message = record.get("message")
        return isinstance(message, dict) and "role" in message
    return kind in _QUIET | _RETOLD and "id" in record


def read(line: int, record: Mapping[str, Any], thread: TranscriptState) -> Read:
    """Yield the events of one line; a header sets the session of the following lines."""
    kind = record.get("type")
    if kind == "session":
        thread.session = word(record.get("id"))
        return []
    if kind in _QUIET:
        return []
    message = record if kind in _RETOLD else record.get("message")
    if kind != "message" and kind not in _RETOLD:
        raise ValueError(f"its type '{kind}' is not known")
    if not isinstance(message, dict):
        raise ValueError("it has no message")
    when = time_of(first(record, "timestamp")) or time_of(message.get("timestamp"))
    base = Message(line, "system", "", when, None, thread.session, word(record.get("id")))
    about = {key: value for key, value in record.items() if key not in ("type", "kind")}
    return read_entry(base, about, message, thread)


# The header that the program adds to messages from a channel; in groups it names the group or the sender.
_ENVELOPE = re.compile(r"\s*\[(?P<head>[^\]\n]{3,300})\][ \t]*(?P<sender>[^:\n]{1,80}:[ \t])?")
_GROUP_HEAD = re.compile(r"\b(?:group|guild|channel|room|thread)\b|@g\.us\b|(?:^|\s)#\w|\bid:-\d", re.IGNORECASE)
_CHANNELS = re.compile(
    r"(?:WhatsApp|Telegram|Discord|Slack|Signal|iMessage|BlueBubbles|MSTeams|Microsoft Teams|Teams|Matrix|Mattermost|"
    r"Google Chat|GoogleChat|IRC|LINE|Zalo|Nostr|Twitch|Feishu|Nextcloud)\b",
    re.IGNORECASE,
)
_GROUP_INFO = re.compile(
    r"\"is_group(?:_chat)?\"\s*:\s*true|\"group_\w+\"\s*:|\[Chat messages since your last reply"
    r"|untrusted (?:context|metadata)[^\n]*\bgroup\b",
    re.IGNORECASE,
)


def in_group(text: str) -> bool:
    """Return whether the program's header says that the message was written in a group or a channel."""
    if _GROUP_INFO.search(text):
        return True
    found = _ENVELOPE.match(text)
    if found is None or not _CHANNELS.match(found["head"]):
        return False
    return _GROUP_HEAD.search(found["head"]) is not None or found["sender"] is not None


def read_entry(
    base: Message, about: Mapping[str, Any], message: Mapping[str, Any], thread: TranscriptState
) -> Iterator[Message]:
    """Return the events of a message with the keys `about` of its entry. Raise ValueError if its role is unknown."""
    role = message.get("role")
    if role is None or role in _RETOLD_ROLES:
        return said(base._replace(recalled=True), first(message, "summary", "content"), thread)
    if role == "bashExecution":
        return answered(base, message.get("output"), None, thread, "bash", bool(message.get("exitCode")))
    base = base._replace(role=role_of(role))
    if base.role != "tool":
        content = message.get("content")
        outside = base.role == "user" and (is_of_group({**about, **message}) or in_group(text_of(content)))
        if base.role == "user":
            base = base._replace(trust="external" if outside else None, recalled=origin_of(message).recalled)
            if origin_of(message).role == "tool":
                return answered(base, content, None, thread)
        return said(base, content, thread)
    call, tool = message.get("toolCallId"), message.get("toolName")
    return answered(base, message.get("content"), call, thread, tool, bool(message.get("isError")))


# Of what \`openclaw sessions export-trajectory\` writes (\`events.jsonl\`), the events of a run, messages and results
# of tools are spoken.

_SCHEMA = "openclaw-trajectory"
_SPOKEN = frozenset("user.message assistant.message tool.result".split())


def fits_trajectory(record: Mapping[str, Any]) -> bool:
    """Return whether a record is an event of such a run."""
    return record.get("traceSchema") == _SCHEMA


def read_trajectory(line: int, record: Mapping[str, Any], thread: TranscriptState) -> Read:
    """Yield the events of one line. What somebody else than the owner wrote gets the trust of an outsider."""
    message = object_in(record.get("data")).get("message")
    if record.get("type") not in _SPOKEN or not isinstance(message, dict) or "role" not in message:
        return []  # events of the run, which repeat what the messages say
    when = time_of(message.get("timestamp")) or time_of(record.get("ts"))
    identity = word(first(record, "entryId", "id")) or word(message.get("id"))
    base = Message(line, "system", "", when, None, word(record.get("sessionId")), identity)
    found = read_entry(base, {}, message, thread)
    if object_in(message.get("__openclaw")).get("senderIsOwner") is False:
        return [event._replace(trust="external") for event in found]
    return found
