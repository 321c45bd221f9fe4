"""Session records: one JSON object for each piece of an agent's work."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Annotated, Any

from clawmem.errors import InvalidInput
from clawmem.model.facts.reach import canonical_project
from clawmem.model.forms import FilledText, read_in_file, to_record
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

    id: FilledText
    agent: str = ""
    state: Annotated[str, STATES] = OPEN
    started: str = ""
    last_seen: str = ""
    ended: str | None = None
    workflow: str | None = None
    project: Annotated[str, canonical_project] | None = None
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
    """Read a session record. Raise Unreadable, naming the key, where a value has a wrong form."""
    return read_in_file(SessionRecord, json_object(data, path, yaml), path)


def session_to_mapping(record: SessionRecord) -> dict[str, Any]:
    """Return the record as a JSON object, without keys that have no value."""
    return to_record(record, (None, "", (), {}))


def render_session(record: SessionRecord) -> bytes:
    """The record as JSON, one key or entry of a list a line, so that a diff shows what changed."""
    return render_object(session_to_mapping(record))


def render_object(record: Mapping[str, Any]) -> bytes:
    """A JSON object with one key a line, and one entry a line of a list of objects."""
    rows = (f" {json.dumps(key, ensure_ascii=False)}: {_value(value)}" for key, value in record.items())
    return ("{\n" + ",\n".join(rows) + "\n}\n").encode()


def _value(value: Any) -> str:
    if isinstance(value, list) and value and all(isinstance(other, Mapping) for other in value):
        return "[\n" + ",\n".join(f"  {json.dumps(other, ensure_ascii=False)}" for other in value) + "\n ]"
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
