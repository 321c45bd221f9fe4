"""JSON Schemas of the answer to an extraction: the form that is asked for, and the form that is read."""

from collections.abc import Mapping
from typing import Any

CATEGORIES = tuple(
    "fact identity relationship preference status health plan goal habit event milestone decision lesson requirement "
    "instruction commitment recommendation action".split()
)
CHANGES = ("replace", "end", "same", "refine")
KINDS = ("person", "company", "project", "resource")
ROLES = ("relation", "work", "mention")
_TEXT, _NULLABLE, _NUMBER = {"type": "string"}, {"type": ["string", "null"]}, {"type": "number"}


def _object_schema(properties: Mapping[str, Any], nullable: bool = False) -> dict[str, Any]:
    kind: Any = ["object", "null"] if nullable else "object"
    return {"type": kind, "additionalProperties": False, "required": list(properties), "properties": dict(properties)}


_FACT = {
    "event": _TEXT,
    "quote": _TEXT,
    "statement": _TEXT,
    "subject": _TEXT,
    "predicate": _TEXT,
    "object": _TEXT,
    "category": {"type": "string", "enum": list(CATEGORIES)},
    "confidence": _NUMBER,
    "importance": _NUMBER,
    "when": _NULLABLE,
    "ended": {"type": "boolean"},
    "changes": {
        "type": "array",
        "items": _object_schema({"id": _TEXT, "how": {"type": "string", "enum": list(CHANGES)}}),
    },
    "about": _object_schema(
        {
            "id": _NULLABLE,
            "kind": {"type": ["string", "null"], "enum": [*KINDS, None]},
            "title": _NULLABLE,
            "role": {"type": ["string", "null"], "enum": [*ROLES, None]},
        },
        nullable=True,
    ),
}
_LIST = {"type": "array", "items": _TEXT}
AGENT_SCHEMA: Mapping[str, Any] = _object_schema(
    {"facts": {"type": "array", "items": _object_schema(_FACT)}, "read": _LIST, "more": _LIST}
)
"""The form that the calling agent is asked for: it also says which events it has read."""
SCHEMA: Mapping[str, Any] = _object_schema({"facts": {"type": "array", "items": _object_schema(_FACT)}, "more": _LIST})
"""The form that a model is asked for."""
_USABLE = {
    "type": "object",
    "additionalProperties": False,
    "required": ["event", "quote", "statement"],
    "properties": dict.fromkeys((*_FACT, "valid_from", "former", "relation_phrase"), True),
}
ACCEPTED: Mapping[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["facts"],
    "properties": {
        "facts": {"type": "array", "if": {"not": {"contains": _USABLE}}, "then": {"items": _USABLE}},
        "more": _LIST,
    },
}
"""The form of a model's answer that is read: no facts, or one at least that is usable. Each fact is then checked alone,
so that a bad one costs only itself."""
