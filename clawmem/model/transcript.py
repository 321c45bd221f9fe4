"""Transcripts as they arrive: JSON Lines of messages, or plain text; each line becomes an event or says why not."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from clawmem.model.dates import moment_of, stamp
from clawmem.model.event import ROLES

_ROLE_NAMES = {"human": "user", "ai": "assistant", "bot": "assistant", "model": "assistant", "developer": "system"}
_TEXT_KEYS = ("content", "text", "message")
_TIME_KEYS = ("timestamp", "time", "created_at", "ts")
_ID_KEYS = ("id", "external_id", "dia_id", "uuid")


class Message(NamedTuple):
    """One message of a transcript. `timestamp` is ISO 8601 UTC, or None where the transcript names no time."""

    line: int
    role: str
    text: str
    timestamp: str | None = None
    speaker: str | None = None
    session: str | None = None
    external_id: str | None = None


class Skipped(NamedTuple):
    """A line that is no message, and why."""

    line: int
    reason: str


def looks_like_json_lines(text: str) -> bool:
    """Whether a text is JSON Lines rather than prose: its first line that is not empty begins an object."""
    return text.lstrip().startswith("{")


def read_json_lines(text: str) -> Iterator[Message | Skipped]:
    """The messages of JSON Lines `{role, content, timestamp?, speaker?, session?, id?}`, verbatim."""
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            yield _message(number, line)


def read_plain(text: str, role: str = "note") -> Iterator[Message | Skipped]:
    """The paragraphs of plain text, verbatim but for the white space around them."""
    number = 1
    for paragraph in text.replace("\r\n", "\n").split("\n\n"):
        stripped = paragraph.strip()
        if stripped:
            yield Message(number + paragraph[: paragraph.find(stripped[0])].count("\n"), role, stripped)
        number += paragraph.count("\n") + 2


def _message(number: int, line: str) -> Message | Skipped:
    try:
        record = json.loads(line)
    except ValueError as problem:
        return Skipped(number, f"it is not JSON ({problem})")
    if not isinstance(record, dict):
        return Skipped(number, "it is not a JSON object")
    role = str(record.get("role", "user")).lower()
    role = _ROLE_NAMES.get(role, role)
    if role not in ROLES:
        return Skipped(number, f"its role '{role}' is none of {', '.join(ROLES)}")
    text = _content(_first(record, _TEXT_KEYS))
    if text is None or not text.strip():
        return Skipped(number, "it has no content")
    when = _first(record, _TIME_KEYS)
    try:
        timestamp = None if when is None else _moment(when)
    except (ValueError, OverflowError, OSError):
        return Skipped(number, f"its timestamp '{when}' is not a time")
    external = _first(record, _ID_KEYS)
    return Message(
        number,
        role,
        text,
        timestamp,
        _word(record.get("speaker") or record.get("name")),
        _word(record.get("session") or record.get("session_id")),
        _word(external),
    )


def _first(record: Mapping[str, Any], keys: tuple[str, ...]) -> Any:
    return next((record[key] for key in keys if record.get(key) is not None), None)


def _content(value: Any) -> str | None:
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        parts = [part if isinstance(part, str) else part.get("text") for part in value if isinstance(part, str | dict)]
        texts = [part for part in parts if isinstance(part, str)]
        return "\n".join(texts) if texts else None
    return None


def _moment(value: Any) -> str:
    if isinstance(value, int | float) and not isinstance(value, bool):
        from datetime import UTC, datetime

        seconds = value / 1000 if value > 1e11 else value
        return stamp(datetime.fromtimestamp(seconds, UTC))
    return stamp(moment_of(str(value)))


def _word(value: Any) -> str | None:
    return str(value) if value is not None and str(value).strip() else None
