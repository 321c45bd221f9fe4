"""What a transcript gives: messages, and lines that are none; and how times, roles and words are read."""

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
}
_HALVES = re.compile("[\ud800-\udfff]")
_EPOCH = re.compile(r"\d{9,19}(?:\.\d+)?")
# A number this large counts thousandths, millionths or billionths of a second.
_UNITS = ((1e17, 1e9), (1e14, 1e6), (1e11, 1e3))
_EARLIEST_YEAR = 1000


class Message(NamedTuple):
    """One message of a transcript. `timestamp` is ISO 8601 UTC, or None where the transcript names no time.

    `kind` is message, tool_call, tool_result, attachment, note or app; `recalled` says that its source knows nobody
    said it: the machine around the conversation put it there. `trust` is the most its words may count, where something
    shows that they may not be the word of its role; `source` is where the line itself says it comes from.
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
    """A line that is no message, and why."""

    line: int
    reason: str


def first(record: Mapping[str, Any], *keys: str) -> Any:
    """The value of the first of these keys that holds one."""
    return next((record[key] for key in keys if record.get(key) is not None), None)


def word(value: Any) -> str | None:
    """A name or an id as text; None where it says nothing or is no plain value."""
    if value is None or isinstance(value, dict | list):
        return None
    return str(value) if str(value).strip() else None


def role_of(value: Any) -> str:
    """The role as the ledger calls it; ValueError where it is none."""
    named = str(value).lower()
    role = _ROLE_NAMES.get(named, named)
    if role not in EVENT_ROLES:
        raise ValueError(f"its role '{named}' is none of {', '.join(EVENT_ROLES)}")
    return role


def time_of(value: Any) -> str | None:
    """A time as ISO 8601 UTC, from ISO 8601 or from seconds or milliseconds since 1970; ValueError where it is none."""
    if value is None:
        return None
    try:
        return _moment(value)
    except (ValueError, OverflowError, OSError):
        raise ValueError(f"its timestamp '{value}' is not a time") from None


def sound(text: str) -> str:
    """The text with halves of broken characters, which no file can hold, replaced by U+FFFD."""
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
        raise ValueError("no transcript is that old")
    return stamp(moment)


def _seconds(value: float) -> float:
    return next((value / divisor for limit, divisor in _UNITS if value > limit), value)
