"""Read and write `items.json`: one fact per line, canonical keys; other layouts are read, and nothing is lost."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from sys import intern
from typing import Any

from clawmem.errors import ConflictMarkers, InvalidInput, Unreadable
from clawmem.model.facts.fact import ACTIVE, ALWAYS_WRITTEN, CANONICAL_KEYS, STATUSES, Fact, FactLink, source_name
from clawmem.model.records.strict_json import LARGEST_NUMBER, read_json, refuse_unread

OTHER_NAMES = {
    "supersededBy": "superseded_by",
    "accessCount": "access_count",
    "lastAccessed": "last_accessed",
    "relatedEntities": "related_entities",
    "agentId": "agent",
    "agent_id": "agent",
    "created_at": "timestamp",
    "createdAt": "timestamp",
    "importance_score": "importance",
    "importanceScore": "importance",
    "fact_id": "id",
    "factId": "id",
    "object_text": "object",
    "objectText": "object",
    "kind": "category",
    "temporal_edges": "links",
    "temporalEdges": "links",
    "relationPhrase": "relation_phrase",
    "validFrom": "valid_from",
    "validTo": "valid_to",
    "sourceEvent": "source_event",
    "sourceText": "source_text",
    "sourceSpan": "source_span",
}

_TEXT = frozenset(
    "id fact category timestamp source status last_accessed superseded_by subject predicate object "
    "relation_phrase valid_from valid_to source_event source_text trust agent workflow scope project".split()
)
_RATIO = frozenset(("confidence", "importance"))
_NAMES = frozenset(("related_entities", "tags"))
_MAPPING = frozenset(("details", "metadata"))
_REQUIRED = ("id", "fact")
_DEFAULTS = {"category": "fact", "timestamp": "1970-01-01T00:00:00Z", "source": "unknown"}


def fact_to_record(fact: Fact) -> dict[str, Any]:
    """Return the fact as a JSON object: always-written keys, then keys with a value, then unknown keys."""
    record: dict[str, Any] = {key: getattr(fact, key) for key in ALWAYS_WRITTEN}
    for key in CANONICAL_KEYS[len(ALWAYS_WRITTEN) :]:
        value = getattr(fact, key)
        if value is None or value == () or value == {}:
            continue
        if key == "links":
            value = [{name: part for name, part in link._asdict().items() if part is not None} for link in value]
        elif isinstance(value, tuple):
            value = list(value)
        record[key] = value
    record.update(fact.extra)
    return record


def exchange_record(fact: Fact, tier: str) -> dict[str, Any]:
    """Return a fact under the names that other programs use for its parts, with its links, its successor and its times
    as temporal edges. `fact_from_record` reads it."""
    names = {"id": "fact_id", "category": "kind", "object": "object_text", "timestamp": "created_at",
             "importance": "importance_score", "source": "source_detail"}  # fmt: skip
    edges: list[dict[str, Any]] = [
        {"edge_type": link.type, "target_id": link.to, "reason": link.reason, "at": link.at} for link in fact.links
    ]
    if fact.superseded_by:
        edges.append({"edge_type": "superseded_by", "target_id": fact.superseded_by})
    if fact.valid_from or fact.valid_to:
        edges.append({"valid_from": fact.valid_from, "valid_to": fact.valid_to})
    record = {names.get(key, key): value for key, value in fact_to_record(fact).items() if key != "links"}
    return {
        **record,
        "object_text": fact.object or fact.fact,
        "tier": tier,
        "source": source_name(fact),
        "temporal_edges": [{key: value for key, value in edge.items() if value is not None} for edge in edges],
    }


def fact_from_record(record: Mapping[str, Any]) -> Fact:
    """Read one fact from a JSON object in the canonical or any other known layout.

    Raises InvalidInput with the offending key when a value has the wrong type or range.
    """
    fields: dict[str, Any] = {}
    extra: dict[str, Any] = {}
    for key, value in record.items():
        name = OTHER_NAMES.get(key, key)
        if name not in _FIELDS:
            extra[key] = value
        elif name in fields:
            if fields[name] != value:
                extra[key] = value
        else:
            fields[name] = value
    if "fact" not in fields:
        fields["fact"] = stated_in(fields)
    if isinstance(fields.get("links"), list) and "links" not in record:
        _read_edges(fields, extra)
    for name in _REQUIRED:
        if not isinstance(fields.get(name), str) or not fields[name].strip():
            raise InvalidInput(f"the key '{name}' is missing or empty")
    for name, default in _DEFAULTS.items():
        if fields.get(name) is None:
            fields[name] = default
    if fields.get("status") is None:
        fields["status"] = "superseded" if fields.get("superseded_by") else ACTIVE
    return Fact(**{name: _checked(name, value) for name, value in fields.items()}, extra=extra)


_FIELDS = frozenset(CANONICAL_KEYS)
# Most facts have one of a few values; a fifth of the memory of many facts.
_REPEATED = frozenset(("category", "source", "status", "trust", "predicate"))


def stated_in(fields: Mapping[str, Any]) -> str | None:
    """Return the statement of a record that has only a triple, under canonical or other names, or None.

    The relation is said by its phrase, else by the words of the predicate: "Jane lives in Oslo".
    """
    named = {OTHER_NAMES.get(key, key): value for key, value in fields.items()}
    predicate = named.get("predicate")
    relation = named.get("relation_phrase") or (predicate.replace("_", " ") if isinstance(predicate, str) else None)
    parts = [named.get("subject"), relation, named.get("object")]
    words = " ".join(part.strip() for part in parts if isinstance(part, str) and part.strip())
    return words if isinstance(named.get("object"), str) and words else None


def _read_edges(fields: dict[str, Any], extra: dict[str, Any]) -> None:
    """Read the temporal edges of another layout: links to facts become links, and the others are kept as they are.

    An edge without a target that has `valid_from` or `valid_to` says when the fact itself holds.
    """
    links, others = [], []
    for edge in fields.pop("links"):
        try:
            links.append(_link(edge))
        except InvalidInput:
            others.append(edge)
            for name in ("valid_from", "valid_to"):
                if isinstance(edge, dict) and isinstance(edge.get(name), str):
                    fields.setdefault(name, edge[name])
    fields["links"] = links
    if others:
        extra["temporal_edges"] = others


def fact_to_line(fact: Fact) -> str:
    """Return the fact as one line of JSON, without the separating comma."""
    return json.dumps(fact_to_record(fact), ensure_ascii=False)


def render_items(facts: Iterable[Fact]) -> bytes:
    """Return a whole `items.json`: a valid JSON array with one fact per line."""
    return items_file(fact_to_line(fact) for fact in facts)


def items_file(lines: Iterable[str]) -> bytes:
    """Return a whole `items.json` from the lines of its facts."""
    body = ",\n".join(lines)
    return f"[\n{body}\n]\n".encode() if body else b"[]\n"


def parse_items(data: bytes, path: str) -> tuple[Fact, ...]:
    """Read an `items.json`. Raise Unreadable or ConflictMarkers, naming the line, if it is wrong."""
    return tuple(fact for _, fact in parse_items_with_lines(data, path))


def parse_items_with_lines(data: bytes, path: str) -> tuple[tuple[int, Fact], ...]:
    """Like `parse_items`, with the 1-based line on which each fact starts."""
    text = _decode(data, path)
    refuse_conflict_markers(text, path)
    records = _records(text, path)
    seen: dict[str, int] = {}
    facts = []
    for number, record in records:
        if not isinstance(record, dict):
            raise Unreadable(path, number, "a fact must be a JSON object")
        try:
            fact = fact_from_record(record)
        except InvalidInput as problem:
            raise Unreadable(path, number, problem.message) from None
        if fact.id in seen:
            raise Unreadable(path, number, f"{fact.id} is already on line {seen[fact.id]}")
        seen[fact.id] = number
        facts.append((number, fact))
    return tuple(facts)


def refuse_conflict_markers(text: str, path: str) -> None:
    """Raise ConflictMarkers if git left a conflict in the text."""
    if "<<<<<<< " not in text:
        return
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith(("<<<<<<< ", ">>>>>>> ")):
            raise ConflictMarkers(path, number)


def _decode(data: bytes, path: str) -> str:
    refuse_unread(data, path)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        line = data[: problem.start].count(b"\n") + 1
        raise Unreadable(path, line, "it is not UTF-8 text") from None


def _records(text: str, path: str) -> list[tuple[int, Any]]:
    if not text.strip():
        raise Unreadable(path, 1, "it is empty where a JSON array should be")
    try:
        whole = read_json(text)
    except ValueError as problem:
        line = getattr(problem, "lineno", None)
        raise Unreadable(path, line, f"it is not valid JSON ({getattr(problem, 'msg', problem)})") from None
    if isinstance(whole, dict):
        whole = whole.get("items", whole.get("facts"))
    if not isinstance(whole, list):
        raise Unreadable(path, 1, "it must be a JSON array of facts")
    lines = text.split("\n")
    if lines[0].strip() == "[" and len(lines) == len(whole) + 3:
        return list(enumerate(whole, 2))
    return [(_line_of(lines, record), record) for record in whole]


def _line_of(lines: list[str], record: Any) -> int:
    fact_id = (record.get("id") or record.get("fact_id")) if isinstance(record, dict) else None
    if isinstance(fact_id, str):
        for number, line in enumerate(lines, 1):
            if f'"{fact_id}"' in line:
                return number
    return 1


def _checked(name: str, value: Any) -> Any:
    if name in _TEXT:
        text = _text(name, value)
        return intern(text) if text and name in _REPEATED else text
    if name in _RATIO:
        return _ratio(name, value)
    if name in _NAMES:
        return _names(name, value)
    if name in _MAPPING:
        if value is not None and not isinstance(value, dict):
            raise InvalidInput(f"the key '{name}' must be an object")
        return value
    if name == "access_count":
        if value is None:
            return 0
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= LARGEST_NUMBER:
            raise InvalidInput("the key 'access_count' must be a whole number, 0 or more, of at most 64 bits")
        return value
    if name == "source_span":
        return _span(value)
    if value is not None and not isinstance(value, list | tuple):
        raise InvalidInput("the key 'links' must be a list")
    return tuple(item if isinstance(item, FactLink) else _link(item) for item in value or ())


def _text(name: str, value: Any) -> str | None:
    if value is not None and not isinstance(value, str):
        raise InvalidInput(f"the key '{name}' must be text")
    if name == "status" and value not in STATUSES:
        raise InvalidInput(f"the status '{value}' is not one of {', '.join(STATUSES)}")
    return value


def _ratio(name: str, value: Any) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise InvalidInput(f"the key '{name}' must be a number from 0 to 1")
    return value


def _names(name: str, value: Any) -> tuple[str, ...]:
    if value is None:
        return ()
    if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
        raise InvalidInput(f"the key '{name}' must be a list of texts")
    return tuple(value)


def _span(value: Any) -> tuple[int, int] | None:
    if value is None:
        return None
    if isinstance(value, list | tuple) and len(value) == 2:
        start, end = value
        if type(start) is int and type(end) is int and 0 <= start <= end:
            return start, end
    raise InvalidInput("the key 'source_span' must be [start, end], two whole numbers in order")


def _link(value: Any) -> FactLink:
    if isinstance(value, dict):
        to = value.get("to") or value.get("target") or value.get("target_id") or value.get("target_fact_id")
        kind = value.get("type") or value.get("relation") or value.get("edge_type")
        about = value.get("reason"), value.get("at")
        if isinstance(to, str) and isinstance(kind, str) and all(isinstance(other, str | None) for other in about):
            return FactLink(kind, to, *about)
    raise InvalidInput("each of the 'links' must be an object with the texts 'type' and 'to'")
