"""JSON Schemas of the answer to a reading task: the form that is asked for, and the form that is read."""

from collections.abc import Mapping
from typing import Any

CATEGORIES = tuple(
    "fact identity relationship preference status health plan goal habit event milestone decision lesson requirement "
    "instruction commitment recommendation action".split()
)
CHANGES = ("replace", "end", "same", "refine")
KINDS = ("person", "company", "project", "area", "resource", "archive")
SHORT = {
    "e": "event", "q": "quote", "s": "statement", "of": "subject", "p": "predicate", "o": "object", "c": "category",
    "i": "importance", "x": "changes", "at": "about",
}  # fmt: skip
"""The keys of a fact as the task asks for them, with the full name of each, which is read as well."""
_NUMBERS = {"type": "array", "items": {"type": ["integer", "string"]}}
_FACT: Mapping[str, Any] = {
    "type": "object",
    "required": ["e", "q", "s"],
    "properties": {
        "e": {"type": "integer"},
        **{key: {"type": "string"} for key in ("q", "s", "of", "p", "o", "c", "when", "at")},
        "ended": {"type": "boolean"},
        "i": {"type": "number"},
        "x": {"type": "object", "additionalProperties": {"type": "string", "enum": list(CHANGES)}},
    },
}
_FORGET = {"type": ["object", "array"], "additionalProperties": {"type": "array", "items": {"type": "string"}}}
_LINES = {"type": "object", "additionalProperties": {"type": "string"}}
_OTHER = {"task": {"type": "string"}, "more": _NUMBERS, "forget": _FORGET, "lines": _LINES}
SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "required": ["facts"],
    "properties": {"facts": {"type": "array", "items": _FACT}, **_OTHER},
}
"""The form that a model is asked for."""
_KEYS = (*SHORT, *SHORT.values(), "when", "ended", "confidence", "valid_from", "former", "relation_phrase")
_USABLE = {
    "type": "object",
    "additionalProperties": False,
    "anyOf": [{"required": ["e", "q", "s"]}, {"required": ["event", "quote", "statement"]}],
    "properties": dict.fromkeys(_KEYS, True),
}
ACCEPTED: Mapping[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["facts"],
    "properties": {
        "facts": {"type": "array", "if": {"not": {"contains": _USABLE}}, "then": {"items": _USABLE}},
        **_OTHER,
        "read": _NUMBERS,
        "unread": _NUMBERS,
    },
}
"""The form of an answer that is read: no facts, or one at least that is usable. Each fact is then checked alone, so
that a bad one costs only itself."""
