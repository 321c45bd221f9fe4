"""The document that ends a session or makes a checkpoint: its JSON Schema, an example, and errors that name the field.

The checker reads the part of JSON Schema that the schema uses: `type`, `required`, `properties`, `items`, `enum`,
`anyOf`, `minLength`, `minimum`, `maximum`, `additionalProperties`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any, NamedTuple

from clawmem.errors import InvalidInput
from clawmem.model.facts.reach import SCOPES

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
    if "anyOf" in schema:
        yield from _best(value, schema["anyOf"], path)
        return
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


def _best(value: Any, shapes: list[Mapping[str, Any]], path: str) -> Iterator[str]:
    """Yield the problems of the alternative of the value's type, or of the last one."""
    shape = next((record for record in shapes if _is_type(value, record["type"])), shapes[-1])
    yield from _problems(value, shape, path)


def _ignored(value: Any, schema: Mapping[str, Any], path: str) -> Iterator[str]:
    if "anyOf" in schema:
        schema = next((other for other in schema["anyOf"] if _is_type(value, other["type"])), schema["anyOf"][-1])
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
