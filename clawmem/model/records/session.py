"""Session records: one JSON object for each piece of an agent's work."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any, TypeVar

from clawmem.errors import InvalidInput, Unreadable
from clawmem.model.facts.reach import canonical_project
from clawmem.model.language.dates import moment_of
from clawmem.model.named_tuple import NamedTuple
from clawmem.model.records.parsing import Yaml, json_object

OPEN, ENDED, ABANDONED, REVOKED = "open", "ended", "abandoned", "revoked"
UNREPORTED = "Ended by its program, without a report"
"""How the summary of a session begins that its agent did not end."""
STATES = (OPEN, ENDED, ABANDONED, REVOKED)
"""`revoked`: a person withdrew what came from it; its summary and notes are kept, and neither served nor digested."""
PREFIX = "ses_"
JUDGED = "judged"
"""The key of a record for `judged_mark`: what it hands on was searched for orders when the session ended."""
DEFAULT_AGENT = "main"
"""The agent of a session that a caller without an agent starts."""
COLLISION = "collision"
"""The kind of an entry in a session's journal that says that it met a claim of another one."""
_ID = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,126}[A-Za-z0-9])?")
_TEXTS = (
    "id agent state started last_seen ended workflow project task stage summary".split()
)  # `state` is checked further
_Entry = TypeVar("_Entry")
_WORDS = ("served", "learned", "proposals", "warnings")


class SessionNote(NamedTuple):
    """A note of a session: its id, its time (ISO 8601 UTC) and its text."""

    id: str
    at: str
    text: str


class SessionCollision(NamedTuple):
    """That a session met a claim of another one: the time, what is claimed, the holder, and the holder's session."""

    at: str
    what: str
    holder: str
    session: str


class SessionRecord(NamedTuple):
    """One session. Times are ISO 8601 UTC.

    `last_seen` is the last sign of life. `served` are the ids of the facts that were shown, `learned` those of the
    facts that its checkpoints and its end added, `proposals` what they proposed. `checkpoints` and `reflection` are as
    they were handed in. `outcomes` says of served facts what they were worth. `collisions` are the claims of others
    that it met."""

    id: str
    agent: str = ""
    state: str = OPEN
    started: str = ""
    last_seen: str = ""
    ended: str | None = None
    workflow: str | None = None
    project: str | None = None
    task: str | None = None
    stage: str | None = None
    served: tuple[str, ...] = ()
    notes: tuple[SessionNote, ...] = ()
    checkpoints: tuple[Mapping[str, Any], ...] = ()
    summary: str | None = None
    reflection: Mapping[str, Any] | None = None
    warnings: tuple[str, ...] = ()
    outcomes: Mapping[str, str] | None = None
    learned: tuple[str, ...] = ()
    proposals: tuple[str, ...] = ()
    collisions: tuple[SessionCollision, ...] = ()
    extra: Mapping[str, Any] = {}


def session_path(agent: str, session: str) -> str:
    """Return the vault path of a session record."""
    return f"agents/{agent}/sessions/{session}.json"


def check_session_id(text: str) -> str:
    """Return a session id. Raise InvalidInput unless it has letters, digits, `.`, `_` and `-` only."""
    if not _ID.fullmatch(text) or ".." in text:
        raise InvalidInput(f"'{text}' is not a session id.", "Use letters, digits, . _ and -, such as ses_1a2b3c4d.")
    return text


def parse_session(data: bytes, path: str, yaml: Yaml) -> SessionRecord:
    """Read a session record; raises Unreadable where it is no JSON object, has no `id`, or a key has a wrong type."""
    record = json_object(data, path, yaml)
    if not isinstance(record.get("id"), str) or not record["id"]:
        raise Unreadable(path, None, "the key 'id' is missing or not text")
    try:
        return _session(record)
    except InvalidInput as problem:
        raise Unreadable(path, None, problem.message) from None


def _session(record: Mapping[str, Any]) -> SessionRecord:
    given = {key: value for key, value in record.items() if key in SessionRecord._fields and value is not None}
    for key in _TEXTS:
        if not isinstance(given.get(key, ""), str):
            raise InvalidInput(f"the key '{key}' is not text")
    if given.get("state", OPEN) not in STATES:
        raise InvalidInput(f"the key 'state' is not one of {', '.join(STATES)}")
    for key in _WORDS:
        words = given.get(key, [])
        if not isinstance(words, list) or not all(isinstance(one, str) for one in words):
            raise InvalidInput(f"the key '{key}' is not a list of texts")
        given[key] = tuple(words)
    if "project" in given:
        given["project"] = canonical_project(given["project"])
    for key in ("reflection", "outcomes"):
        if not isinstance(given.get(key, {}), Mapping):
            raise InvalidInput(f"the key '{key}' is not an object")
    checkpoints = given.get("checkpoints", [])
    if not isinstance(checkpoints, list) or not all(isinstance(one, Mapping) for one in checkpoints):
        raise InvalidInput("the key 'checkpoints' is not a list of objects")
    given["checkpoints"] = tuple(checkpoints)
    given["notes"] = tuple(_entry(SessionNote, one, "notes") for one in _list(given, "notes"))
    given["collisions"] = tuple(_entry(SessionCollision, one, "collisions") for one in _list(given, "collisions"))
    given["extra"] = {key: value for key, value in record.items() if key not in SessionRecord._fields}
    return SessionRecord(**given)


def _list(given: Mapping[str, Any], key: str) -> list[Any]:
    value = given.get(key, [])
    if not isinstance(value, list):
        raise InvalidInput(f"the key '{key}' is not a list")
    return value


def _entry(kind: Callable[..., _Entry], held: Any, key: str) -> _Entry:
    names: tuple[str, ...] = kind._fields  # type: ignore[attr-defined]
    if not isinstance(held, Mapping) or not all(isinstance(held.get(name), str) for name in names):
        said = ", ".join(f"'{name}'" for name in names[:-1]) + f" and '{names[-1]}'"
        raise InvalidInput(f"the key '{key}' is not a list of objects with {said}")
    return kind(*(held[name] for name in names))


def session_to_mapping(record: SessionRecord) -> dict[str, Any]:
    """Return the record as a JSON object, without keys that have no value."""
    held: dict[str, Any] = record._asdict()
    held |= {key: [one._asdict() for one in held[key]] for key in ("notes", "collisions")}
    extra = held.pop("extra")
    given = {key: list(value) if isinstance(value, tuple) else value for key, value in held.items()}
    return {**{key: value for key, value in given.items() if value not in (None, "", [], {})}, **extra}


def render_session(record: SessionRecord) -> bytes:
    """The record as JSON, one key or entry of a list a line, so that a diff shows what changed."""
    return render_object(session_to_mapping(record))


def render_object(record: Mapping[str, Any]) -> bytes:
    """A JSON object with one key a line, and one entry a line of a list of objects."""
    rows = (f" {json.dumps(key, ensure_ascii=False)}: {_value(value)}" for key, value in record.items())
    return ("{\n" + ",\n".join(rows) + "\n}\n").encode()


def _value(value: Any) -> str:
    if isinstance(value, list) and value and all(isinstance(one, Mapping) for one in value):
        return "[\n" + ",\n".join(f"  {json.dumps(one, ensure_ascii=False)}" for one in value) + "\n ]"
    return json.dumps(value, ensure_ascii=False)


def state_at(record: SessionRecord, now: datetime, hours: float) -> str:
    """Return the state of a session: an open one without a sign of life for that many hours is abandoned."""
    if record.state != OPEN:
        return record.state
    try:
        seen = moment_of(record.last_seen or record.started)
    except ValueError:
        return record.state
    return ABANDONED if now - seen > timedelta(hours=hours) else OPEN
