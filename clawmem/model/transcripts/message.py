"""The output of transcript readers (messages and skipped lines), and the reading of times, roles and words.

Find out who wrote a record of a chat, by its role and keys alone: a person, a tool, a program, or unknown.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from clawmem.model.language.dates import moment_of, stamp
from clawmem.model.records.event import EVENT_ROLES

_ROLE_NAMES = {
    "human": "user",
    "ai": "assistant",
    "bot": "assistant",
    "model": "assistant",
    "developer": "system",
    "function": "tool",
    "toolresult": "tool",
    "tool_result": "tool",
    # Nobody speaks in an event of an app, so it is never a user's word.
    "app": "system",
    "event": "system",
    "app_event": "system",
}
_HALVES = re.compile("[\ud800-\udfff]")
_EPOCH = re.compile(r"\d{9,19}(?:\.\d+)?")
# Numbers this large count milliseconds, microseconds or nanoseconds.
_UNITS = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))
_EARLIEST_YEAR = 1000


class Message(NamedTuple):
    """One message of a transcript. `timestamp` is ISO 8601 UTC, or None if the transcript has no time.

    `kind` is message, tool_call, tool_result, attachment, note or app. `recalled` means that a program added the text
    and nobody said it. `trust` limits the trust of its statements, if it may not be from its role. `source` is the
    origin that the line itself names.
    """

    line: int
    role: str
    text: str
    timestamp: str | None = None
    speaker: str | None = None
    session: str | None = None
    external_id: str | None = None
    kind: str = "message"
    recalled: bool = False
    metadata: Mapping[str, Any] | None = None
    trust: str | None = None
    source: str | None = None


class SkippedLine(NamedTuple):
    """A line that is not a message, and the reason."""

    line: int
    reason: str


def first(record: Mapping[str, Any], *keys: str) -> Any:
    """Return the value of the first of these keys that has one."""
    return next((record[key] for key in keys if record.get(key) is not None), None)


def word(value: Any) -> str | None:
    """Return a name or an id as text, or None if it is empty or not a plain value."""
    if value is None or isinstance(value, dict | list):
        return None
    return str(value) if str(value).strip() else None


def role_of(value: Any) -> str:
    """Return the role as the ledger names it. Raise ValueError if it is unknown."""
    named = str(value).lower()
    role = _ROLE_NAMES.get(named, named)
    if role not in EVENT_ROLES:
        raise ValueError(f"its role '{named}' is not one of {', '.join(EVENT_ROLES)}")
    return role


def time_of(value: Any) -> str | None:
    """Return a time as ISO 8601 UTC, from ISO 8601 or seconds or milliseconds since 1970; ValueError if invalid."""
    if value is None:
        return None
    try:
        return _moment(value)
    except (ValueError, OverflowError, OSError):
        raise ValueError(f"its timestamp '{value}' is not a time") from None


def sound(text: str) -> str:
    """Return the text with lone surrogates, which no file can contain, replaced by U+FFFD."""
    return text if text.isascii() or not _HALVES.search(text) else _HALVES.sub("\ufffd", text)


def _moment(value: Any) -> str:
    from datetime import UTC, datetime

    if isinstance(value, str) and _EPOCH.fullmatch(value.strip()):
        value = float(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        moment = datetime.fromtimestamp(_seconds(value), UTC)
    else:
        moment = moment_of(str(value))
    if moment.year < _EARLIEST_YEAR:
        raise ValueError("it is too long ago for a transcript")
    return stamp(moment)


def _seconds(value: float) -> float:
    return next((value / divisor for limit, divisor in _UNITS if value > limit), value)


_APPS = frozenset("app event app_event analytics telemetry metric".split())
_RESULT_KEYS = frozenset(
    "tool_call_id toolCallId tool_use_id toolUseId toolUseResult tool_result toolResult function_result "
    "sourceToolUseID sourceToolAssistantUUID".split()
)
_HOOK_KEYS = frozenset("hook hookName hook_name hookEvent hookEventName hook_event_name hookInfos hookOutput".split())
# Words in a kind or type that mean that a program wrote the text; `message`, `text` and `user` do not.
_OF_PROGRAMS = frozenset(
    "tool function result results observation output stdout stderr hook file attachment document resource retrieval "
    "search web page email mail webhook notification system reminder context memory".split()
)
_GROUP_KEYS = frozenset("group groupId group_id guild guildId is_group isGroup is_group_chat isGroupChat".split())
_GROUPS = frozenset("group supergroup channel guild room public".split())
_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")


class Origin(NamedTuple):
    """The role and kind of a record's event, whether nobody said it, and whether its role may be wrong."""

    role: str
    kind: str = "message"
    recalled: bool = False
    doubtful: bool = False


def origin_of(record: Mapping[str, Any]) -> Origin:
    """Return the origin of a record. Raise ValueError if its role is unknown."""
    if is_app(record):
        return Origin("system", "app")
    role = role_of(record.get("role") or "user")
    if role != "user":
        return Origin(role)
    if not _HOOK_KEYS.isdisjoint(record):
        return Origin(role, recalled=True)
    if not _RESULT_KEYS.isdisjoint(record):
        return Origin("tool")
    kinds = _words(record.get("kind")) | _words(record.get("type"))
    if {"tool", "function", "hook", "observation", "stdout", "stderr"} & kinds:
        return Origin("tool")
    return Origin(role, doubtful=bool(kinds & _OF_PROGRAMS) or is_of_group(record))


def is_app(record: Mapping[str, Any]) -> bool:
    """Return whether a record is an app event, in which nobody speaks."""
    named = (record.get("role"), record.get("type"), record.get("kind"))
    return any(isinstance(text, str) and text.lower() in _APPS for text in named)


def is_of_group(record: Mapping[str, Any]) -> bool:
    """Return whether a record comes from a group or a channel, in which many people write."""
    if any(record.get(key) not in (None, False, "", 0) for key in _GROUP_KEYS):
        return True
    return any(
        isinstance(record.get(key), str) and not _GROUPS.isdisjoint(_words(record[key]))
        for key in ("chatType", "chat_type", "channelType", "channel_type", "conversation_type", "kind", "type")
    ) or isinstance(record.get("channel"), str | dict)


def _words(value: Any) -> set[str]:
    return {other.lower() for other in _WORDS.findall(value)} if isinstance(value, str) else set()
