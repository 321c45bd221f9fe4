"""The shapes of answers, and the JSON Schema that is made of them.

A shape is written with Python's own literals, which cost nothing where nobody asks for the schema:

    str, int, float, bool     a value of that type; a float may be written as an integer
    object                    any value
    None                      null
    [shape]                   a list
    (shape, shape)            one of several shapes
    {"word", "word"}          one of several words
    "name"                    a shape of SHARED
    {"key": shape}            an object: `key?` may be missing, the key `str` stands for all keys that are not named,
                              and the key `...` takes over the keys of a shape of SHARED
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from clawmem.faces.parts.command import Shape
from clawmem.model.facts.fact import TRUSTS
from clawmem.model.history.manifest import FORMAT, KIND
from clawmem.model.proposals.proposal import ACTIONS, KINDS, STATES

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_TYPES = {str: "string", int: "integer", float: "number", bool: "boolean"}

# What a fact says beside what every fact has; the same in one that waits for a person.
_STATED = {
    "subject?": str, "predicate?": str, "object?": str, "relation_phrase?": str, "valid_from?": str, "valid_to?": str,
    "source_event?": str, "source_text?": str, "source_span?": [int], "confidence?": float, "importance?": float,
    "trust?": set(TRUSTS), "agent?": str, "workflow?": str, "scope?": str, "project?": str,
    "related_entities?": [str], "tags?": [str],
    "links?": [{"type": str, "to": str, "reason?": str, "at?": str}],
    "details?": {str: object}, "metadata?": {str: object},
}  # fmt: skip

SHARED: dict[str, Shape] = {
    "fact": {
        "id": str, "fact": str, "category": str, "timestamp": str, "source": str,
        "status": {"active", "superseded", "retracted", "archived", "proposed"}, "access_count": int,
        "last_accessed": (str, None), "superseded_by": (str, None),
        **_STATED,
        "entity": str, "proposal?": str, "conflicts_with?": [str], "quarantined?": str,
        "reviewed?": {False}, "in_doubt?": str, "helpful?": int, "harmful?": int, str: object,
    },
    "event": {
        "id": str, "timestamp": str, "role": str, "text": str, "speaker?": str, "session?": str, "agent?": str,
        "source?": str, "external_id?": str, "kind": str, "recalled?": {True}, "trust?": str,
        "metadata?": {str: object},
    },
    "entity": {"name": str, "title": str, "aliases?": [str], "kind?": str},
    "entry": {
        "commit": str, "time": str, "author": str, "author_email": str, "op?": str, "subject": str,
        "facts?": [str], "entities?": [str], "agent?": str, "session?": str, "source?": str,
        "supersedes?": [str], "events?": [str], "undoes?": str, "parents?": [str],
    },
    "point": {"commit": str, "time": str, "moment": str},
    "context": {
        "text": str, "token_count": int, "counted_by": str, "facts?": [str],
        "left_out?": [{"section": str, "lines": int}],
    },
    "proposal": {
        "id": str, "kind": set(KINDS), "status": set(STATES), "says": str, "why": str, "created": str,
        "does": set(ACTIONS),
        "targets?": [{"id": str, "fact": str}],
        "fact?": {"fact": str, "category": str, "source": str, **_STATED, str: object},
        "entity?": str, "title?": str,
        "entry?": {
            "name": str, "description": str, "phrases": [str], "value": str, "cardinality": {"single", "many"},
            "replaces": bool, "questions": [str], "conflict?": str,
        },
        "line?": {"page": str, "text": str},
        "worth?": {"on": str, "score": float, "reasons": [str]},
        "source_event?": str, "agent?": str, "details?": {str: object},
        "decided?": {"by": str, "at": str, "reason": (str, None), "delegated_by?": str, "winner?": str,
                     "signed?": bool},
        str: object,
    },
    "waiting": {"id": str, "kind": set(KINDS), "says": str, "why": str},
    "run": {
        "model": str, "task?": str, "prompt?": str, "outcome": str, "events?": int, "answers?": {str: int},
        "calls": int, "retries": int, "cached?": int, "prompt_tokens": int, "answer_tokens": int, "cents": float,
        "milliseconds": int, "facts": int, "dropped": int,
        "priced?": {False}, "dropped_for?": {str: int}, "unknown_predicates?": {str: int},
    },
    "manifest": {
        "kind": {KIND}, "format": {FORMAT}, "made": str, "made_by": str, "vault": str, "object_format": str,
        "branch": (str, None), "commit": str, "tree": str, "refs": {str: str}, "counts": {str: int},
        "members": {str: {"size": int, "sha256": str}},
        "left_out": {str: str},
    },
    "problem": {"code": str, "message": str, "hint": str},
}  # fmt: skip
"""The shapes that several answers share."""


def document_schema(shape: Shape) -> dict[str, Any]:
    """The JSON Schema of the document that a command prints with --json, where its data has that shape."""
    record = {"schema_version": {1}, "ok": {True}, "data": shape, "notices": [str]}
    failed = {"schema_version": {1}, "ok": {False}, "error": "problem", "notices": [str]}
    used: dict[str, Any] = {}
    schema = _schema((record, failed), used)
    return {"$schema": DIALECT, **schema, "$defs": dict(sorted(used.items()))}


def keys_of(shape: Shape) -> Iterator[tuple[str, Shape]]:
    """The keys that an object of a shape can have, or those of the objects in a list, each with its shape."""
    if isinstance(shape, str):
        yield from keys_of(SHARED[shape])
    elif isinstance(shape, (tuple, list)):
        for other in shape:
            yield from keys_of(other)
    elif isinstance(shape, Mapping):
        whole = {**SHARED[shape["..."]], **shape} if "..." in shape else shape
        yield from (
            (key.removesuffix("?"), other) for key, other in whole.items() if isinstance(key, str) and key != "..."
        )


def _schema(shape: Shape, used: dict[str, Any]) -> dict[str, Any]:
    """One shape's schema; the shared ones it names are added to `used`."""
    if shape is None:
        return {"type": "null"}
    if shape is object:
        return {}
    if isinstance(shape, type):
        return {"type": _TYPES[shape]}
    if isinstance(shape, str):
        if shape not in used:
            used[shape] = {}
            used[shape] = _schema(SHARED[shape], used)
        return {"$ref": f"#/$defs/{shape}"}
    if isinstance(shape, set):
        return {"enum": sorted(shape)}
    if isinstance(shape, tuple):
        return {"anyOf": [_schema(other, used) for other in shape]}
    if isinstance(shape, list):
        return {"type": "array", "items": _schema(shape[0], used)}
    return _object_schema(shape, used)


def _object_schema(shape: Mapping[Any, Shape], used: dict[str, Any]) -> dict[str, Any]:
    keys = {**SHARED[shape["..."]], **shape} if "..." in shape else dict(shape)
    keys.pop("...", None)
    others = keys.pop(str, None)
    return {
        "type": "object",
        "properties": {key.removesuffix("?"): _schema(other_key, used) for key, other_key in keys.items()},
        "required": [key for key in keys if not key.endswith("?")],
        "additionalProperties": False if others is None else _schema(others, used),
    }
