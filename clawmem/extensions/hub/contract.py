"""The interchange contract: one claim as one line of JSON, how it is checked, and the fact that it becomes.

The schema is JSON Schema 2020-12. A line has six required keys. A few further keys have a meaning here; all others are
kept as they are and exported again. A fact that came as a line holds the line's own values in its metadata, under
`published`; what the fact itself holds is not repeated there.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import IO, Any, NamedTuple

from clawmem.errors import InvalidInput
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.facts.fact import DEFAULT_CATEGORY, FACT_PREFIX, SUPERSEDED, Fact
from clawmem.model.facts.pulled import PUBLISHED, is_source_of_copies, published_values
from clawmem.model.facts.reach import SCOPES
from clawmem.model.language.text import LONGEST_FACT, check_visible, one_line
from clawmem.model.records.strict_json import json_problem, read_json

REQUIRED = ("entity", "claim", "source", "confidence", "timestamp", "author")
CURRENT, REVOKED = "active", "revoked"
STATUSES = (CURRENT, SUPERSEDED, REVOKED)

LINE_BYTES = 256 << 10
"""A longer line is refused."""

# Keys of a line that are fields of a fact, too.
_SHARED = ("category", "tags", "valid_from", "valid_to", "workflow", "scope", "project")
_TIME = r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})"
_LINE_TEXT = r"\S"
# The confidence of a fact that has none, by its trust.
_ASSUMED = {"user": 0.9, "agent": 0.7, "tool": 0.6, "external": 0.5}


def _text(description: str) -> dict[str, Any]:
    return {"type": "string", "maxLength": LONGEST_FACT, "pattern": _LINE_TEXT, "description": description}


SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "A claim",
    "description": "One line of the interchange contract. Keys that are not named here are kept.",
    "type": "object",
    "required": list(REQUIRED),
    "properties": {
        "entity": _text("What the claim is about: a name, or the path of an entity, such as areas/people/jane."),
        "claim": _text("One atomic statement, understood without its context."),
        "source": _text("Where the claim comes from: a system, a document, an address."),
        "confidence": {"type": "number", "minimum": 0, "maximum": 1, "description": "How certain the author is."},
        "timestamp": {
            "type": "string",
            "format": "date-time",
            "pattern": f"^{_TIME}$",
            "description": "When the claim was made (RFC 3339, with an offset). A later line of the same origin wins.",
        },
        "author": _text("Who makes the claim: a person or an agent."),
        "id": _text("The id of the claim where it comes from. With source and author it identifies the claim."),
        "status": {
            "enum": list(STATUSES),
            "default": CURRENT,
            "description": "superseded: another claim replaced it. revoked: it is withdrawn. Neither is taken back.",
        },
        "superseded_by": _text("The id of the claim that replaced it."),
        "category": {"type": "string", "maxLength": 80, "description": "One word, such as preference."},
        "tags": {"type": "array", "items": {"type": "string", "maxLength": 80}},
        "valid_from": {"type": "string", "description": "The day or time from which it is true."},
        "valid_to": {"type": "string", "description": "The day or time of its end."},
        "workflow": {"type": "string"},
        "scope": {"enum": list(SCOPES)},
        "project": {"type": "string"},
    },
    "dependentRequired": {"superseded_by": ["status"]},
}


class Line(NamedTuple):
    """A line that fits the schema: its values, all of them as given; its number is 1-based."""

    number: int
    values: Mapping[str, Any]

    @property
    def status(self) -> str:
        """The status, `active` unless the line has one."""
        return str(self.values.get("status", CURRENT))

    @property
    def fact_id(self) -> str:
        """The id of the fact that the line becomes: a hash, the same in every vault and on every run.

        Two wordings of one origin have two ids. They begin with the same digits, so that one finds the other."""
        pair = (self.values["entity"] if self.has_id else one_line(self.values["entity"]), self.claim)
        if not self.has_id:
            return FACT_PREFIX + _hashed(24, self.values["source"], self.values["author"], "claim", *pair)
        return self.id_prefix + _hashed(16, *self._origin, *pair)

    @property
    def has_id(self) -> bool:
        """Whether the line says which claim it is where it comes from."""
        return self.values.get("id") is not None

    @property
    def names_next_wording(self) -> bool:
        """Whether its origin replaced the claim by another wording of the same claim."""
        return self.has_id and self.status == SUPERSEDED and self.values.get("superseded_by") == self.values["id"]

    @property
    def id_prefix(self) -> str:
        """What the ids of all wordings of the claim begin with; the line must have an `id`."""
        return FACT_PREFIX + _hashed(12, *self._origin)

    @property
    def _origin(self) -> tuple[Any, ...]:
        return self.values["source"], self.values["author"], "id", self.values["id"]

    @property
    def claim(self) -> str:
        """The claim as a fact states it."""
        return one_line(self.values["claim"])

    @property
    def moment(self) -> datetime:
        """When the claim was made."""
        return datetime.fromisoformat(self.values["timestamp"])


def read_line(number: int, data: bytes) -> Line:
    """Return the line. Raise InvalidInput if it is not a line of the contract; the sentence names the line."""
    if len(data) > LINE_BYTES:
        raise InvalidInput(f"Line {number} is longer than {LINE_BYTES >> 10} KB.", "A claim is one statement.")
    try:
        values = read_json(data, pairs=_object)
    except (ValueError, UnicodeDecodeError) as problem:
        raise InvalidInput(f"Line {number} is not a line of JSON: {json_problem(problem)}.") from None
    return checked_line(number, values)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"the key '{next(key for key in keys if keys.count(key) > 1)}' occurs twice in one object")
    return found


def numbered_lines(o: IO[bytes]) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that are not blank, without their breaks, with 1-based numbers; one that is too long is cut."""
    number = 0
    while data := o.readline(LINE_BYTES + 2):
        number += 1
        line = data.rstrip(b"\r\n")
        while len(data) > LINE_BYTES and not data.endswith(b"\n") and (data := o.readline(LINE_BYTES + 2)):
            pass
        if line.strip():
            yield number, line


def checked_line(number: int, values: Any) -> Line:
    """Return the line with these values. Raise InvalidInput that names the line and the key."""
    problem = line_problem(values)
    if problem is not None:
        raise InvalidInput(f"Line {number}: {problem}.")
    return Line(number, values)


def line_problem(values: Any) -> str | None:
    """Return why a value does not fit the schema, or None if it does."""
    if not isinstance(values, dict):
        return "it must be a JSON object"
    for key in REQUIRED:
        if values.get(key) is None:
            return f"the key '{key}' is missing"
    for key, shape in SCHEMA["properties"].items():
        if key in values and (problem := _problem(values[key], shape)):
            return f"the key '{key}' {problem}"
    if "superseded_by" in values and "status" not in values:
        return "the key 'superseded_by' needs the key 'status'"
    try:
        datetime.fromisoformat(values["timestamp"])
    except ValueError as problem_of_time:
        return f"the key 'timestamp' is not a time: {problem_of_time}"
    return None


def _problem(value: Any, shape: Mapping[str, Any]) -> str | None:
    if "enum" in shape:
        return None if value in shape["enum"] else f"must be one of {', '.join(shape['enum'])}"
    if shape["type"] == "number":
        number = isinstance(value, int | float) and not isinstance(value, bool)
        return None if number and 0 <= value <= 1 else "must be a number from 0 to 1"
    if shape["type"] == "array":
        inner = isinstance(value, list) and not any(_problem(other, shape["items"]) for other in value)
        return None if inner else "must be a list of short texts"
    if not isinstance(value, str):
        return "must be text"
    if len(value) > shape.get("maxLength", LONGEST_FACT):
        return f"has {len(value):,} characters; the limit is {shape['maxLength']:,}"
    if "pattern" in shape and not re.search(shape["pattern"], value):
        return "is empty" if shape["pattern"] == _LINE_TEXT else f"is not a time such as {_EXAMPLE_TIME}"
    return None


_EXAMPLE_TIME = "2026-11-21T09:30:00Z"


def fact_of(line: Line, trust: str | None, now: datetime) -> Fact:
    """Return the fact that a line becomes while it is current, without its time of recording.

    Raise InvalidInput if a value cannot be kept. `trust` is the trust of the claims; the source's name may lower it.
    """
    values = line.values
    if is_source_of_copies(values["source"]):
        raise InvalidInput(
            f"Line {line.number}: the source '{one_line(values['source'])}' is that of facts pulled from an"
            " organisation.", "`clawmem org pull` brings them.",
        )  # fmt: skip
    value = {key: values[key] for key in _SHARED if key in values}
    record = {**value, "fact": line.claim, "source": values["source"], "confidence": values["confidence"]}
    try:
        draft = draft_from_record({**record, "trust": trust, "metadata": {PUBLISHED: {}}}, now)
        check_visible(one_line(values["entity"]), "entity")
    except InvalidInput as problem:
        raise InvalidInput(f"Line {line.number}: {problem.message}", problem.hint) from None
    fact = draft.fact._replace(id=line.fact_id)
    return fact._replace(metadata={PUBLISHED: own_values(values, fact)})


def own_values(values: Mapping[str, Any], fact: Fact) -> dict[str, Any]:
    """Return the values of a line that the fact does not hold as they are: those for its metadata."""
    record = {"claim": fact.fact, "source": fact.source, **_shared_values(fact)}
    kept = {key: value for key, value in values.items() if key not in record or value != record[key]}
    kept.pop("status", None)
    return kept


def is_published(fact: Fact) -> bool:
    """Return whether the fact came as a line."""
    return isinstance((fact.metadata or {}).get(PUBLISHED), Mapping)


def status_of(fact: Fact) -> str:
    """Return the status of a fact in the contract. A superseded fact needs a successor here, so a claim whose successor
    is not known is retracted, and says in its own values that it was superseded."""
    if fact.is_current:
        return CURRENT
    return SUPERSEDED if SUPERSEDED in (fact.status, published_values(fact).get("status")) else REVOKED


def line_of(fact: Fact, entity: str, author: str, replaced_by: str | None = None) -> dict[str, Any]:
    """Return the line of a fact. `author` counts for a fact that did not come as a line. `replaced_by` is the id in the
    contract of the fact that superseded it, where that is known."""
    status, assumed = status_of(fact), _ASSUMED.get(fact.trust or "user", _ASSUMED["external"])
    values: dict[str, Any] = {
        "entity": entity,
        "claim": fact.fact,
        "source": fact.source,
        "confidence": fact.confidence if fact.confidence is not None else assumed,
        "timestamp": fact.timestamp,
        "author": author,
    }
    own = published_values(fact)
    if not own:
        values["id"] = fact.id
        more = {"subject": fact.subject, "predicate": fact.predicate, "object": fact.object}
        values |= {key: value for key, value in more.items() if value is not None}
    values |= {**_shared_values(fact), **own}
    if status != CURRENT:
        values["status"] = status
        if status == SUPERSEDED and replaced_by and "superseded_by" not in own:
            values["superseded_by"] = replaced_by
    else:
        values.pop("superseded_by", None)
    return values


def _shared_values(fact: Fact) -> dict[str, Any]:
    """Return the fields of a fact that are keys of its line; the default category is left out."""
    found = {key: getattr(fact, key) for key in _SHARED if getattr(fact, key)}
    if found.get("category") == DEFAULT_CATEGORY:
        del found["category"]
    return {key: list(value) if isinstance(value, tuple) else value for key, value in found.items()}


def texts_of(values: Any) -> list[str]:
    """Return every text in a line, keys included."""
    if isinstance(values, str):
        return [values]
    if isinstance(values, Mapping):
        return [text for key, value in values.items() for text in (key, *texts_of(value))]
    return [text for value in values for text in texts_of(value)] if isinstance(values, list) else []


def _hashed(digits: int, *parts: Any) -> str:
    return hashlib.sha256(json.dumps(parts, ensure_ascii=False).encode()).hexdigest()[:digits]
