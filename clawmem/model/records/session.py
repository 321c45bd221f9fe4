"""Session records, one JSON object for each piece of an agent's work; the document that ends a session or makes a
checkpoint, with errors that name the field; and scratchpads, a Markdown page for each task, which outlive sessions.

The checker reads the part of JSON Schema that the schema uses: `type`, `required`, `properties`, `items`, `enum`,
`anyOf`, `minLength`, `minimum`, `maximum`, `additionalProperties`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from typing import Annotated, Any

from clawmem.errors import InvalidInput
from clawmem.model.facts.reach import SCOPES, canonical_project
from clawmem.model.forms import FilledText, read_in_file, to_record
from clawmem.model.language.dates import moment_of
from clawmem.model.language.text import as_one_file
from clawmem.model.named_tuple import NamedTuple
from clawmem.model.records.entity import is_device, slug
from clawmem.model.records.parsing import Yaml, json_object

OPEN, ENDED, ABANDONED, REVOKED = "open", "ended", "abandoned", "revoked"
UNREPORTED = "Ended by its program, without a report"
"""How the summary of a session begins that its agent did not end."""
STATES = (OPEN, ENDED, ABANDONED, REVOKED)
"""`revoked`: a person withdrew what came from it; its summary and notes are kept, and neither served nor digested."""
HIDDEN_WORDS = "[forgotten on request]"
"""What stands in a record in place of a sentence that was to be forgotten."""
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
    if not _ID.fullmatch(text) or ".." in text or is_device(text):
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


HEADINGS = ("Goal", "Plan", "State", "Decisions", "Questions", "Next")
# A checkpoint moves the older lines of these into the session record, and keeps this number of lines.
GROWING = ("State", "Decisions")
KEPT_LINES = 5
_HEADING = re.compile(r"^## +(.+?) *$", re.MULTILINE)


class MovedPad(NamedTuple):
    """A scratchpad without its older lines, and those lines by heading."""

    text: str
    moved: dict[str, str]


def scratchpad_path(agent: str, task: str) -> str:
    """Return the vault path of a task's scratchpad. Raise InvalidInput if the task has no letter or digit."""
    name = slug(task)
    if not name:
        raise InvalidInput(f"'{task}' cannot be the name of a task.", "Use a few words, such as fix-login.")
    return f"agents/{agent}/scratchpads/{as_one_file(name)}.md"


def new_scratchpad(task: str) -> str:
    """Return the empty scratchpad of a task, with the task as its goal."""
    parts = [f"# {task}", *(f"## {name}\n\n{task if name == 'Goal' else ''}".rstrip() for name in HEADINGS)]
    return "\n\n".join(parts) + "\n"


def sections(text: str) -> dict[str, str]:
    """Return the text below each second-level heading, without white space around it."""
    found = list(_HEADING.finditer(text))
    ends = [*(match.start() for match in found[1:]), len(text)][: len(found)]
    return {match[1]: text[match.end() : end].strip() for match, end in zip(found, ends, strict=True)}


def without_older_lines(text: str, keep: int = KEPT_LINES) -> MovedPad:
    """Return the scratchpad with only the last lines of the headings that grow, and what was taken out."""
    moved: dict[str, str] = {}
    for name, body in sections(text).items():
        lines = [line for line in body.splitlines() if line.strip()]
        if name in GROWING and len(lines) > keep:
            moved[name] = "\n".join(lines[:-keep])
            text = _with_section(text, name, "\n".join(lines[-keep:]))
    return MovedPad(text, moved)


def _with_section(text: str, name: str, body: str) -> str:
    found = list(_HEADING.finditer(text))
    at = next(place for place, match in enumerate(found) if match[1] == name)
    end = found[at + 1].start() if at + 1 < len(found) else len(text)
    return f"{text[: found[at].end()]}\n\n{body}\n{chr(10) if at + 1 < len(found) else ''}{text[end:]}"


USEFUL, USELESS, HARMFUL = OUTCOMES = ("useful", "useless", "harmful")
_MOST_ERRORS = 20
_TEXT = {"type": "string", "minLength": 1}
_TEXTS = {"type": "array", "items": _TEXT}
_RATIO = {"type": "number", "minimum": 0, "maximum": 1}
_SCOPE = {"type": "string", "enum": list(SCOPES)}


def _object(required: tuple[str, ...], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "required": list(required), "properties": properties}


_REFLECTION = _object(
    ("learned", "watch_for"),
    learned={**_TEXTS, "description": "What you know now and did not know before; may be empty."},
    watch_for={**_TEXTS, "description": "What the next session must be careful about; may be empty."},
)
_LESSON = {
    "anyOf": [
        _TEXT,
        _object(
            ("text",), text=_TEXT, entity=_TEXT, tags=_TEXTS, scope=_SCOPE, importance=_RATIO,
            because={**_TEXT, "description": "What happened that taught it."},
        ),
    ]
}  # fmt: skip
_ALTERNATIVE = {"anyOf": [_TEXT, _object(("option",), option=_TEXT, why=_TEXT)]}
_DECISION = _object(
    ("decided", "why"), decided=_TEXT, why=_TEXT,
    alternatives={"type": "array", "items": _ALTERNATIVE, "description": "What was not chosen, and why not."},
    used={**_TEXTS, "description": "Ids of the facts that the decision rests on."},
    entity=_TEXT, tags=_TEXTS, scope=_SCOPE,
    against={**_TEXT, "description": "Id of an earlier decision that this one goes against."},
)  # fmt: skip
_GUARDRAIL = _object(
    ("rule", "why"), rule=_TEXT, why=_TEXT, failure_mode=_TEXT,
    agents={**_TEXTS, "description": "The agents for which it holds; the default is everybody."},
    evidence={**_TEXTS, "description": "Ids of what led to it: failures, facts, events."},
)  # fmt: skip
_KNOWLEDGE = _object(("entity", "claim"), entity=_TEXT, claim=_TEXT, confidence=_RATIO, source=_TEXT)
_LISTS = {
    "lessons": {"type": "array", "items": _LESSON, "description": "Rules for next time, one sentence each."},
    "decisions": {"type": "array", "items": _DECISION},
}

SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "The end of a session",
    **_object(
        ("summary", "reflection"),
        summary={**_TEXT, "description": "What was done, in one to three sentences."},
        reflection=_REFLECTION,
        **_LISTS,
        guardrails={
            "type": "array",
            "items": _GUARDRAIL,
            "description": "Rules that must never be broken. A person accepts them first.",
        },
        knowledge={"type": "array", "items": _KNOWLEDGE, "description": "Facts about entities."},
        warnings={**_TEXTS, "description": "What is broken or unfinished now."},
        outcomes={
            "type": "object",
            "additionalProperties": {"type": "string", "enum": list(OUTCOMES)},
            "description": "What facts that you were shown were worth, by their ids.",
        },
    ),
}
CHECKPOINT_SCHEMA: dict[str, Any] = {
    "$schema": SCHEMA["$schema"],
    "title": "A checkpoint of a session",
    **_object((), reflection=_REFLECTION, **_LISTS),
}
EXAMPLE: dict[str, Any] = {
    "summary": "Moved the upload handler to streaming. All tests pass; the branch waits for review.",
    "reflection": {
        "learned": ["The proxy buffers request bodies of up to 1 MB."],
        "watch_for": ["The staging proxy has another limit than production."],
    },
    "lessons": [
        {
            "text": "Run the migrations before the tests in this project.",
            "because": "The tests failed until the new column existed.",
            "tags": ["tests"],
            "importance": 0.7,
        }
    ],
    "decisions": [
        {
            "decided": "Stream uploads instead of buffering them.",
            "why": "Memory grew with the size of the file.",
            "alternatives": [{"option": "A larger buffer", "why": "It only moves the limit."}],
        }
    ],
    "guardrails": [],
    "knowledge": [{"entity": "projects/upload", "claim": "The upload service listens on port 8443."}],
    "warnings": ["The load test was not run."],
    "outcomes": {},
}


class Checked(NamedTuple):
    """A checked document, and a notice for each key that was ignored."""

    document: Mapping[str, Any]
    notices: tuple[str, ...] = ()


def check_handover(document: Any, schema: Mapping[str, Any] = SCHEMA) -> Checked:
    """Check a document against a schema. Raise InvalidInput that names each wrong field by its path.

    A key that looks like a misspelt one is an error; any other unknown key is ignored, with a notice."""
    problems = list(_problems(document, schema, ""))
    if problems:
        more = len(problems) - _MOST_ERRORS
        shown = [*problems[:_MOST_ERRORS], *([f"and {more} more"] if more > 0 else [])]
        raise InvalidInput(
            f"The document is not complete: {'; '.join(shown)}.",
            "Correct these fields and hand it in again; nothing was stored."
            " `clawmem session schema --example` prints a document that fits.",
        )
    return Checked(document, tuple(_ignored(document, schema, "")))


def _problems(value: Any, schema: Mapping[str, Any], path: str) -> Iterator[str]:
    place = path or "the document"
    schema = _shape_of(value, schema)
    wanted = schema["type"]
    if not _is_type(value, wanted):
        yield f"{place}: {'is missing' if value is None else f'must be {_ARTICLE[wanted]}, not {_name(value)}'}"
    elif wanted == "string":
        if not value.strip() and schema.get("minLength"):
            yield f"{place}: is empty"
        elif value not in schema.get("enum", (value,)):
            yield f"{place}: '{value}' is not one of {', '.join(schema['enum'])}"
    elif wanted == "number":
        if not schema.get("minimum", value) <= value <= schema.get("maximum", value):
            yield f"{place}: {value} is not between {schema['minimum']} and {schema['maximum']}"
    elif wanted == "array":
        for at, other in enumerate(value):
            yield from _problems(other, schema["items"], f"{path}[{at}]")
    else:
        yield from _object_problems(value, schema, path)


def _object_problems(value: Mapping[str, Any], schema: Mapping[str, Any], path: str) -> Iterator[str]:
    from difflib import get_close_matches  # only where an agent hands a document in

    known = schema.get("properties", {})
    for key in schema.get("required", ()):
        if value.get(key) is None:
            yield f"{_below(path, key)}: is missing"
    for key, other in value.items():
        if key in known:
            if other is not None:
                yield from _problems(other, known[key], _below(path, key))
        elif "additionalProperties" in schema:
            yield from _problems(other, schema["additionalProperties"], _below(path, key))
        elif near := get_close_matches(key, [name for name in known if name not in value], n=1, cutoff=0.75):
            yield f"{_below(path, key)}: is unknown; did you mean '{near[0]}'?"


def _shape_of(value: Any, schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schema, or of several shapes in it the one of the value's type, or the last one."""
    shapes = schema.get("anyOf", [schema])
    shape: Mapping[str, Any] = next((shape for shape in shapes if _is_type(value, shape["type"])), shapes[-1])
    return shape


def _ignored(value: Any, schema: Mapping[str, Any], path: str) -> Iterator[str]:
    schema = _shape_of(value, schema)
    if isinstance(value, list):
        for at, other in enumerate(value):
            yield from _ignored(other, schema["items"], f"{path}[{at}]")
    elif isinstance(value, Mapping) and "properties" in schema:
        for key, candidate in value.items():
            if key in schema["properties"]:
                yield from _ignored(candidate, schema["properties"][key], _below(path, key))
            else:
                yield f"{_below(path, key)} was ignored: the schema has no such key"


_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,), "number": (int, float), "array": (list,), "object": (dict,),
}  # fmt: skip
_ARTICLE = {"string": "text", "number": "a number", "array": "a list", "object": "an object"}


def _is_type(value: Any, wanted: str) -> bool:
    return isinstance(value, _TYPES[wanted]) and not isinstance(value, bool)


def _name(value: Any) -> str:
    return next((_ARTICLE[name] for name in _TYPES if _is_type(value, name)), str(value).lower())


def _below(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key
