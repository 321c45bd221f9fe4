"""Parsers of the file kinds, all called alike: the bytes, the vault path for messages, and a reader of YAML text.

Each raises Unreadable or ConflictMarkers with the line where the file cannot be what its path says.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from clawmem.errors import InvalidInput, Unreadable, UnreadableKey
from clawmem.model.facts.catalog import Catalog, catalog_from_mapping
from clawmem.model.facts.codec import parse_items, refuse_conflict_markers
from clawmem.model.facts.fact import Fact
from clawmem.model.forms import WrongValue, read_in_file
from clawmem.model.records.event import Event, parse_events
from clawmem.model.records.strict_json import LEDGER_LINE_BYTES, read_json

Yaml = Callable[[str, str], Any]
_Record = TypeVar("_Record")


def text(data: bytes, path: str, yaml: Yaml) -> str:
    """UTF-8 text without the markers of a merge conflict."""
    try:
        decoded = data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise Unreadable(path, data.count(b"\n", 0, problem.start) + 1, "it is not UTF-8 text") from None
    refuse_conflict_markers(decoded, path)
    return decoded


def encode(value: str) -> bytes:
    """A text as the bytes of its file."""
    return value.encode()


def unread(data: bytes, path: str, yaml: Yaml) -> bytes:
    """The bytes themselves, of a file that nothing reads."""
    return data


def page(data: bytes, path: str, yaml: Yaml) -> str:
    """A page whose front matter, where it has one, is YAML."""
    from clawmem.model.pages.summary import split_front_matter

    whole = text(data, path, yaml)
    front, _ = split_front_matter(whole)
    if front is not None:
        yaml(front, path)
    return whole


def json_value(data: bytes, path: str, yaml: Yaml) -> Any:
    """Any JSON value."""
    try:
        return read_json(text(data, path, yaml))
    except ValueError as problem:
        raise Unreadable(path, getattr(problem, "lineno", None), f"it is not valid JSON ({problem})") from None


def json_object(data: bytes, path: str, yaml: Yaml) -> dict[str, Any]:
    """A JSON object."""
    record = json_value(data, path, yaml)
    if not isinstance(record, dict):
        raise Unreadable(path, None, "it is not a JSON object")
    return record


def json_lines(data: bytes, path: str, yaml: Yaml) -> Sequence[Any]:
    """A JSON value on each line."""
    return [value for _, value in _numbered_lines(text(data, path, yaml), path)]


def read_log(kind: Callable[..., _Record], data: bytes, path: str, yaml: Yaml) -> tuple[_Record, ...]:
    """Records of a class, a JSON object on each line. Raise Unreadable, with the line and the key."""
    lines = _numbered_lines(text(data, path, yaml), path)
    return tuple(read_in_file(kind, value, path, number) for number, value in lines)


def _numbered_lines(lines: str, path: str) -> Iterator[tuple[int, Any]]:
    for number, line in enumerate(lines.split("\n"), 1):
        try:
            if line.strip():
                yield number, read_json(line, LEDGER_LINE_BYTES)
        except ValueError as problem:
            raise Unreadable(path, number, f"it is not valid JSON ({problem})") from None


def yaml_value(data: bytes, path: str, yaml: Yaml) -> Any:
    """Any YAML value."""
    return yaml(text(data, path, yaml), path)


def settings(data: bytes, path: str, yaml: Yaml) -> Any:
    """The settings of a vault."""
    from clawmem.model.settings.settings import settings_from_mapping

    return settings_from_mapping(yaml_value(data, path, yaml) or {})


def catalog(data: bytes, path: str, yaml: Yaml) -> Catalog:
    """The predicates that a vault knows by name."""
    return catalog_from_mapping(yaml_value(data, path, yaml) or {})


def facts(data: bytes, path: str, yaml: Yaml) -> tuple[Fact, ...]:
    """The facts of an entity."""
    return parse_items(data, path)


def events(data: bytes, path: str, yaml: Yaml) -> tuple[Event, ...]:
    """The events of a day."""
    return parse_events(data, path)


def proposal(data: bytes, path: str, yaml: Yaml) -> Any:
    """A proposal."""
    from clawmem.model.proposals.proposal import parse_proposal

    return parse_proposal(data, path)


def cursor(data: bytes, path: str, yaml: Yaml) -> Any:
    """How far learning has come."""
    from clawmem.model.records.cursor import parse_cursor

    text(data, path, yaml)
    return parse_cursor(data)


def accesses(data: bytes, path: str, yaml: Yaml) -> Any:
    """How often facts were accessed."""
    from clawmem.model.records.accesses import parse_accesses

    text(data, path, yaml)
    return parse_accesses(data, path)


def adaptation(data: bytes, path: str, yaml: Yaml) -> dict[str, Any]:
    """What became of promoted facts."""
    from clawmem.model.proposals.promotion import outcomes_from_record

    record = json_object(data, path, yaml)
    try:
        outcomes_from_record(record["outcomes"])
    except (ValueError, KeyError, TypeError, AttributeError) as problem:
        raise Unreadable(path, None, f"it does not say what became of promoted facts ({problem})") from None
    return record


def redactions(data: bytes, path: str, yaml: Yaml) -> tuple[dict[str, Any], ...]:
    """The records of redactions."""
    from clawmem.model.history.redaction import records_of

    text(data, path, yaml)
    try:
        return records_of(data)
    except (ValueError, InvalidInput) as problem:
        raise Unreadable(path, getattr(problem, "lineno", None), str(problem)) from None


_ID = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?")


def keyed_records(
    read: Callable[[str, Any], _Record], what: str, data: bytes, path: str, yaml: Yaml
) -> dict[str, _Record]:
    """Return the records by id, in file order. Raise Unreadable, with the line and the key.

    `read` makes a record of an id and its entry, or raises WrongValue. `what` is the word for such a record."""
    entries = yaml_value(data, path, yaml)
    if not isinstance(entries, Mapping | None):
        raise Unreadable(path, None, f"it does not map each {what} to its keys")
    found = {}
    for name, entry in (entries or {}).items():
        try:
            if not _ID.fullmatch(str(name)):
                raise WrongValue(f"is no id of a {what}: use lower-case letters, digits and -")
            found[str(name)] = read(str(name), entry)
        except WrongValue as problem:
            keys = (str(name), *problem.keys)
            written = text(data, path, yaml)
            line = line_of_key(written, ".".join(map(str, keys[:2]))) or line_of_key(written, str(name))
            raise UnreadableKey(path, keys, problem.problem, line) from None
    return found


def line_of_key(text: str, key: str) -> int | None:
    """Return the line on which the last part of a dotted key stands below the parts before it, or None."""
    line: int | None = None
    lines = text.split("\n")
    for part in key.split("."):
        start = line or 0
        wanted = re.compile(rf"""\s*['"]?{re.escape(part)}['"]?\s*:""")
        line = next((number for number in range(start + 1, len(lines) + 1) if wanted.match(lines[number - 1])), None)
        if line is None:
            return None
    return line
