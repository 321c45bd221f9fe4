"""The shapes of answers, and the JSON Schema that is made of them.

A shape is written with Python's own literals, which cost nothing where nobody asks for the schema:

    str, int, float, bool     a value of that type; a float may be written as an integer
    object                    any value
    None                      null
    [shape]                   a list
    (shape, shape)            one of several shapes
    {"word", "word"}          one of several words
    "name"                    a shape of SHARED; with a colon, a tuple class, `module:name`
    a tuple class             an object with its fields, as `data_of` makes one of such a tuple
    {"key": shape}            an object: `key?` may be missing, the key `str` stands for all keys that are not named,
                              and the key `...` takes over the keys of a shape of SHARED or of a tuple class
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from types import NoneType, UnionType
from typing import Annotated, Any, NamedTuple, Union, get_args, get_origin, get_type_hints

from clawmem.errors import InvalidInput
from clawmem.extension import named
from clawmem.faces.parts.command import Command, Shape, Table
from clawmem.faces.parts.words import LEFT_OUT
from clawmem.model.facts.fact import TRUSTS
from clawmem.model.history.entry import FORMAT, KIND
from clawmem.model.language.text import one_line
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

SHARED_AS = {"PlacedFact": "fact", "RememberedFact": "fact", "Proposal": "proposal"}
"""The shapes of SHARED that stand for a tuple class."""


def document_schema(shape: Shape) -> dict[str, Any]:
    """The JSON Schema of the document that a command prints with --json, where its data has that shape."""
    record = {"schema_version": {1}, "ok": {True}, "data": shape, "notices": [str]}
    failed = {"schema_version": {1}, "ok": {False}, "error": "problem", "notices": [str]}
    used: dict[str, Any] = {}
    return {"$schema": DIALECT, **_schema((record, failed), used), "$defs": dict(sorted(used.items()))}


def keys_of(shape: Shape) -> Iterator[tuple[str, Shape]]:
    """The keys that an object of a shape can have, or those of the objects in a list, each with its shape."""
    if isinstance(shape, (tuple, list)):
        for other in shape:
            yield from keys_of(other)
    elif isinstance(shape, Mapping | str) or hasattr(shape, "_fields"):
        yield from ((key.removesuffix("?"), other) for key, other in _members(shape).items() if isinstance(key, str))


def _schema(shape: Shape, used: dict[str, Any]) -> dict[str, Any]:
    """One shape's schema; the shared ones it names are added to `used`."""
    if shape is None:
        return {"type": "null"}
    if shape is object:
        return {}
    if isinstance(shape, type) and shape in _TYPES:
        return {"type": _TYPES[shape]}
    if isinstance(shape, str) and ":" not in shape:
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


def _object_schema(shape: Any, used: dict[str, Any]) -> dict[str, Any]:
    keys = dict(_members(shape))
    others = keys.pop(str, None)
    return {
        "type": "object",
        "properties": {key.removesuffix("?"): _schema(other_key, used) for key, other_key in keys.items()},
        "required": [key for key in keys if not key.endswith("?")],
        "additionalProperties": False if others is None else _schema(others, used),
    }


def _members(shape: Any) -> dict[Any, Shape]:
    """The keys of an object, each with its shape. A key that is taken over and named again keeps its place."""
    if isinstance(shape, str):
        return _members(named(shape) if ":" in shape else SHARED[shape])
    if isinstance(shape, type):
        hints = get_type_hints(shape, include_extras=True)
        fields = [name for name in shape._fields if name not in LEFT_OUT]  # type: ignore[attr-defined]
        return {name: _shape_of(hints[name]) for name in fields}
    again = {key.removesuffix("?"): key for key in shape if isinstance(key, str)}
    found: dict[Any, Shape] = {}
    for key, other in shape.items():
        if key == "...":
            found |= {again.get(name, name): each for name, each in _members(other).items()}
        else:
            found[key] = other
    return found


def _shape_of(hint: Any) -> Shape:
    """The shape of what a field with an annotation becomes in `data_of`."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        words = [mark for mark in arguments[1:] if isinstance(mark, tuple) and isinstance(mark[0], str)]
        return set(words[0]) if words else _shape_of(arguments[0])
    if origin in (Union, UnionType):
        return tuple(map(_shape_of, arguments))
    if origin is not None:
        return [_shape_of(arguments[0])] if origin in (tuple, Sequence) else {str: _shape_of(arguments[1])}
    if hint is NoneType:
        return None
    return object if hint is Any else SHARED_AS.get(hint.__name__, hint)


# The records of an answer, one a line or with only some of their fields.
#
# The records of a command are the lists in its data that `Command.records` names, in one order if there are several. A
# value that is no list is one record, and so is the whole data of a command that names none.

IN = "in"
"""The key that says from which list a record is, where a command has several."""
RANK = "rank"
"""The key by which the records of several lists are in one order."""

_Record = Mapping[str, Any]


class Selection(NamedTuple):
    """The records of a command that a call asked for: each as one line of JSON if `as_lines`, and only with these
    fields unless there are none."""

    command: Command
    fields: tuple[str, ...]
    as_lines: bool

    def data(self, data: _Record) -> dict[str, Any]:
        """The lists of the data with the fields of each record; nothing else of the data."""
        items = [key for key in self.command.records if key in data]
        if not items:
            return self.chosen(data)
        return {key: _each(_made(data[key]), self.chosen) for key in items}

    def shown(self, data: _Record) -> Sequence[str] | Table:
        """Each record as one line of JSON, or as a row of a table: there, what is not text is written as JSON, and what
        a record does not have is empty."""
        records = self._records(data)
        if self.as_lines:
            return [json.dumps(self.chosen(record), ensure_ascii=False) for record in records]
        return Table(self.fields, [[_cell(record.get(name)) for name in self.fields] for record in records])

    def _records(self, data: _Record) -> list[_Record]:
        items = [key for key in self.command.records if key in data]
        if not items:
            return [{key: _made(value) for key, value in data.items()}]
        lists = {key: value if isinstance(value := _made(data[key]), list) else [value] for key in items}
        if len(self.command.records) == 1:
            return lists[items[0]]
        merged = [{IN: key, **record} for key, records in lists.items() for record in records]
        return sorted(merged, key=lambda record: record[RANK])

    def chosen(self, record: _Record) -> dict[str, Any]:
        """Return one record with the fields that were asked for."""
        names = self.fields or record
        return {name: _made(record[name]) for name in names if name in record}


def selection(command: Command, fields: str | None, as_lines: bool, as_json: bool) -> Selection:
    """What `--fields` and `--jsonl` ask for. Raises InvalidInput for a field that no record of the command can have."""
    if as_lines and as_json:
        raise InvalidInput("--json and --jsonl cannot be combined.", "Use one of them.")
    names = tuple(dict.fromkeys(word.strip() for word in (fields or "").split(",") if word.strip()))
    if fields is not None and not names:
        raise InvalidInput("--fields is empty.", "Name fields between commas, such as --fields id,fact.")
    known = record_fields(command)
    for name in names:
        if name not in known:
            raise InvalidInput(f"'{name}' is not a field of these records.", f"They have {', '.join(known)}.")
    return Selection(command, names, as_lines)


def record_fields(command: Command) -> Sequence[str]:
    """The names of the fields that the records of a command can have, in the order of its shape."""
    shapes: list[Shape] = [command.shape]
    if command.records:
        whole = list(keys_of(command.shape))
        shapes = [shape for name in command.records for key, shape in whole if key == name]
    names = [name for shape in shapes for name, _ in keys_of(shape)]
    return list(dict.fromkeys(([IN] if len(command.records) > 1 else []) + names))


def _made(value: Any) -> Any:
    return value() if callable(value) else value


def _each(value: Any, act: Any) -> Any:
    return [act(other) for other in value] if isinstance(value, list) else act(value)


def _cell(value: Any) -> str:
    if value is None or isinstance(value, str):
        return one_line(value or "")
    return json.dumps(value, ensure_ascii=False)
