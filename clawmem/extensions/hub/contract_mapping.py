"""Mappings: a YAML file that says how the records of another format become lines of the interchange contract.

A value of a mapping is a path into the record (`$.memory`), a path into the item of `each` (`@`), a text with paths in
braces (`projects/{$.name}`), any other constant, or an object with one of `path`, `text` and `constant`, and:
`default` where nothing is found, `words` from their words to ours, `date` (iso, epoch, epoch-ms, or the codes of
strptime) with `offset` for times without one, and `scale: [lowest, highest]` for numbers.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta, timezone
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from clawmem.errors import InvalidInput, UnreadableKey
from clawmem.extensions.hub.contract import LINE_BYTES, REQUIRED, Line, checked_line, numbered_lines
from clawmem.extensions.hub.contract_export import RefusedLine
from clawmem.model.records.strict_json import JSON_BYTES, beyond_limit, json_problem, read_json

if TYPE_CHECKING:
    from jsonpath import CompoundJSONPath, JSONPath

JSON, JSONL, CSV = FORMATS = ("json", "jsonl", "csv")
_TOP = frozenset(("description", "format", "records", "delimiter", "rules", "line", "where", "each"))
_RULE = frozenset(("line", "where", "each"))
_SOURCES = ("path", "text", "constant")
_OPTIONS = frozenset((*_SOURCES, "default", "words", "date", "offset", "scale"))
_BRACED = re.compile(r"\{([$@][^{}]*)\}")
_OFFSET = re.compile(r"[+-]\d\d:\d\d")
_EPOCH, _EPOCH_MS, _ISO = "epoch", "epoch-ms", "iso"
# Paths with patterns have no time limit.
_PATTERNS = ("match(", "search(", "=~")
_NOTHING = object()


class Mapped(NamedTuple):
    """A mapping that was read: its format, how records are found in it, and its rules."""

    format: str
    records: JSONPath | CompoundJSONPath | None
    delimiter: str
    rules: tuple[_Rule, ...]


class _Path(NamedTuple):
    text: str
    of_item: bool
    compiled: JSONPath | CompoundJSONPath

    def find(self, record: Any, item: Any) -> Any:
        """Return the first value that is not null, or _NOTHING."""
        found = self.compiled.findall(item if self.of_item else record)
        return next((value for value in found if value is not None), _NOTHING)


class _Value(NamedTuple):
    """How one key gets its value. `parts` are constants and paths; several parts make a text."""

    parts: tuple[Any, ...]
    default: Any = _NOTHING
    words: Mapping[str, Any] | None = None
    date: str | None = None
    offset: str = "+00:00"
    scale: tuple[float, float] | None = None


class _Rule(NamedTuple):
    where: tuple[tuple[_Path, Any], ...]
    each: JSONPath | CompoundJSONPath | None
    line: Mapping[str, _Value]


def read_mapping(record: Any, name: str) -> Mapped:
    """Return the mapping. Raise UnreadableKey that names the file and the key, or InvalidInput."""
    if not isinstance(record, dict):
        raise InvalidInput(f"{name} is not a mapping.", "It has the keys format and line, or format and rules.")
    reader = _Reader(name)
    reader.known(record, _TOP, ())
    form = record.get("format", JSONL)
    if form not in FORMATS:
        raise reader.wrong(("format",), f"must be one of {', '.join(FORMATS)}")
    if "records" in record and form != JSON:
        raise reader.wrong(("records",), f"is for the format {JSON} only")
    delimiter = record.get("delimiter", ",")
    if not isinstance(delimiter, str) or len(delimiter) != 1:
        raise reader.wrong(("delimiter",), "must be one character")
    if ("rules" in record) == ("line" in record):
        raise reader.wrong(("rules" if "rules" in record else "line",), "a mapping has either a line or rules")
    if "rules" not in record:
        rules = [reader.rule({key: record[key] for key in _RULE & record.keys()}, ())]
    elif isinstance(record["rules"], list) and record["rules"]:
        rules = [reader.rule(rule, ("rules", at)) for at, rule in enumerate(record["rules"])]
    else:
        raise reader.wrong(("rules",), "must be a list of rules, each with a line")
    records = reader.path(record.get("records", "$[*]"), ("records",)).compiled if form == JSON else None
    return Mapped(form, records, delimiter, tuple(rules))


class _Reader:
    def __init__(self, name: str) -> None:
        self._name = name

    def wrong(self, keys: tuple[str | int, ...], problem: str) -> UnreadableKey:
        return UnreadableKey(self._name, keys, problem)

    def known(self, record: Mapping[Any, Any], names: Iterable[str], keys: tuple[str | int, ...]) -> None:
        for key in record:
            if key not in names:
                raise self.wrong((*keys, str(key)), f"is unknown; known keys are {', '.join(sorted(names))}")

    def rule(self, record: Any, keys: tuple[str | int, ...]) -> _Rule:
        if not isinstance(record, dict) or not isinstance(record.get("line"), dict):
            raise self.wrong((*keys, "line"), "must be an object with the keys of a line")
        self.known(record, _RULE, keys)
        for key in REQUIRED:
            if key not in record["line"]:
                raise self.wrong((*keys, "line"), f"lacks the key '{key}'")
        where = record.get("where", {})
        if not isinstance(where, dict):
            raise self.wrong((*keys, "where"), "must be an object of paths and values")
        each = self.path(record["each"], (*keys, "each")).compiled if "each" in record else None
        return _Rule(
            tuple((self.path(path, (*keys, "where", str(path))), value) for path, value in where.items()),
            each,
            {str(key): self.value(value, (*keys, "line", str(key))) for key, value in record["line"].items()},
        )

    def value(self, argument: Any, keys: tuple[str | int, ...]) -> _Value:
        if isinstance(argument, str):
            return _Value(self.parts(argument, keys))
        if not isinstance(argument, dict):
            return _Value((argument,))
        self.known(argument, _OPTIONS, keys)
        sources = [key for key in _SOURCES if key in argument]
        if len(sources) != 1:
            raise self.wrong(keys, f"must have one of the keys {', '.join(_SOURCES)}")
        source = argument[sources[0]]
        if sources[0] == "constant":
            parts: tuple[Any, ...] = (source,)
        elif not isinstance(source, str):
            raise self.wrong((*keys, sources[0]), "must be text")
        else:
            parts = (self.path(source, (*keys, "path")),) if sources[0] == "path" else self.parts(source, keys)
        words, date, offset, scale = (argument.get(key) for key in ("words", "date", "offset", "scale"))
        if words is not None and not isinstance(words, dict):
            raise self.wrong((*keys, "words"), "must be an object from their words to ours")
        if date is not None and (not isinstance(date, str) or (date not in _DATES and "%" not in date)):
            raise self.wrong((*keys, "date"), f"must be {', '.join(_DATES)} or the codes of strptime, such as %d.%m.%Y")
        if date is not None and date not in _DATES and (wrong := _date_problem(date)):
            raise self.wrong((*keys, "date"), f"is not codes of strptime, such as %d.%m.%Y: {wrong}")
        if offset is not None and not (isinstance(offset, str) and _OFFSET.fullmatch(offset)):
            raise self.wrong((*keys, "offset"), "must be an offset in quotes, such as '+02:00'")
        if scale is not None and not _is_scale(scale):
            raise self.wrong((*keys, "scale"), "must be [lowest, highest], two different numbers")
        return _Value(
            parts,
            argument.get("default", _NOTHING),
            {str(key): value for key, value in words.items()} if words is not None else None,
            date,
            offset or "+00:00",
            (scale[0], scale[1]) if scale else None,
        )

    def parts(self, text: str, keys: tuple[str | int, ...]) -> tuple[Any, ...]:
        """Return the constants and paths of a text."""
        if text[:1] in ("$", "@"):
            return (self.path(text, keys),)
        pieces = _BRACED.split(text)
        return tuple(self.path(piece, keys) if at % 2 else piece for at, piece in enumerate(pieces) if piece or at % 2)

    def path(self, text: Any, keys: tuple[str | int, ...]) -> _Path:
        if not isinstance(text, str) or text[:1] not in ("$", "@"):
            raise self.wrong(keys, "must be a path that begins with $ (the record) or @ (the item of each)")
        if any(_pattern in text for _pattern in _PATTERNS):
            raise self.wrong(keys, "a path cannot contain a pattern, which has no time limit")
        import jsonpath  # only for mappings

        try:
            return _Path(text, text[0] == "@", jsonpath.compile(f"${text[1:]}"))
        except jsonpath.JSONPathError as problem:
            message = str(problem).partition("\n")[0]
            raise self.wrong(keys, f"'{text}' is not a JSON path ({message})") from None


_DATES = (_ISO, _EPOCH, _EPOCH_MS)


def _is_scale(items: Any) -> bool:
    plain = isinstance(items, list) and len(items) == 2
    return plain and all(type(other) in (int, float) for other in items) and items[0] != items[1]


def mapped_lines(o: IO[bytes], mapping: Mapped) -> Iterator[Line | RefusedLine]:
    """Yield the lines that the records of a file become. They are numbered as their records: by line, or by place."""
    for number, record in _RECORDS[mapping.format](o, mapping):
        if isinstance(record, _Unread):
            yield RefusedLine(number, record.reason)
            continue
        for rule in mapping.rules:
            if all(_fits(path.find(record, record), wanted) for path, wanted in rule.where):
                for item in rule.each.findall(record) if rule.each else (record,):
                    yield _line(number, rule, record, item)


class _Unread(NamedTuple):
    reason: str


def _line(number: int, rule: _Rule, record: Any, item: Any) -> Line | RefusedLine:
    values: dict[str, Any] = {}
    for key, value in rule.line.items():
        try:
            found = _found(value, record, item)
        except (ValueError, OverflowError) as problem:
            return RefusedLine(number, f"Record {number}: the key '{key}': {problem}.")
        if found is not _NOTHING:
            values[key] = found
        elif key in REQUIRED:
            text = " and ".join(part.text for part in value.parts if isinstance(part, _Path))
            return RefusedLine(number, f"Record {number}: the key '{key}': {text} finds nothing, and has no default.")
    try:
        return checked_line(number, values)
    except InvalidInput as problem:
        return RefusedLine(number, problem.message)


def _found(value: _Value, record: Any, item: Any) -> Any:
    pieces = [part.find(record, item) if isinstance(part, _Path) else part for part in value.parts]
    if any(piece is _NOTHING or piece == "" for piece in pieces):
        return value.default
    found = pieces[0] if len(pieces) == 1 else "".join(map(_as_text, pieces))
    if value.words is not None:
        if str(found) not in value.words:
            if value.default is _NOTHING:
                raise ValueError(f"'{found}' is not one of its words")
            return value.default
        found = value.words[str(found)]
    if value.date is not None:
        found = _moment(found, value.date, value.offset)
    if value.scale is not None:
        found = _scaled(found, value.scale)
    return found


def _as_text(value: Any) -> str:
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        return str(value)
    raise ValueError(f"{type(value).__name__} is no text")


def _moment(value: Any, form: str, offset: str) -> str:
    if form in (_EPOCH, _EPOCH_MS):
        found = datetime.fromtimestamp(_number(value) / (1000 if form == _EPOCH_MS else 1), UTC)
    else:
        text = _as_text(value)
        try:
            found = datetime.fromisoformat(text) if form == _ISO else datetime.strptime(text, form)
        except ValueError:
            raise ValueError(f"'{text}' is not a time in the form {form}") from None
    if found.tzinfo is None:
        hours, minutes = int(offset[1:3]), int(offset[4:])
        zone = timezone((1 if offset[0] == "+" else -1) * timedelta(hours=hours, minutes=minutes))
        found = found.replace(tzinfo=zone)
    return found.isoformat().replace("+00:00", "Z")


def _date_problem(form: str) -> str | None:
    """Return what is wrong with the codes of a date, or None."""
    try:
        datetime.strptime("", form)
    except re.error:
        return "a code occurs twice"
    except ValueError as problem:
        return None if "does not match" in str(problem) else str(problem)
    return None


def _number(value: Any) -> float:
    if isinstance(value, str):
        try:
            return float(value)
        except ValueError:
            raise ValueError(f"'{value}' is not a number") from None
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    raise ValueError(f"{type(value).__name__} is no number")


def _scaled(value: Any, scale: tuple[float, float]) -> float:
    number = (_number(value) - scale[0]) / (scale[1] - scale[0])
    if not 0 <= number <= 1:
        raise ValueError(f"{value} is not between {scale[0]:g} and {scale[1]:g}")
    return round(number, 6)


def _fits(found: Any, wanted: Any) -> bool:
    """Return whether a value fits a condition: null for absent, {present: true} for any value, or an equal value."""
    if wanted is None or wanted == {"present": False}:
        return found is _NOTHING
    return found is not _NOTHING and (wanted == {"present": True} or found == wanted)


def _from_json(o: IO[bytes], mapping: Mapped) -> Iterator[tuple[int, Any]]:
    data = o.read(JSON_BYTES + 1)
    if len(data) > JSON_BYTES:
        limit = beyond_limit("The document", len(data), JSON_BYTES, "bytes")
        raise InvalidInput(f"{limit}.", "Convert it to one record a line, and use the format jsonl.")
    try:
        document = read_json(data)
    except (ValueError, UnicodeDecodeError) as problem:
        raise InvalidInput(f"The file is not JSON: {json_problem(problem)}.") from None
    found = mapping.records.findall(document) if mapping.records else []
    if not found:
        raise InvalidInput("The mapping finds no record in the file.", "Check the key records, such as $.results[*].")
    yield from enumerate(found, 1)


def _from_jsonl(o: IO[bytes], mapping: Mapped) -> Iterator[tuple[int, Any]]:
    for number, data in numbered_lines(o):
        if len(data) > LINE_BYTES:
            yield number, _Unread(f"Line {number} is longer than {LINE_BYTES >> 10} KB.")
            continue
        try:
            yield number, read_json(data)
        except (ValueError, UnicodeDecodeError) as problem:
            yield number, _Unread(f"Line {number} is not a line of JSON: {json_problem(problem)}.")


def _from_csv(o: IO[bytes], mapping: Mapped) -> Iterator[tuple[int, Any]]:
    text = io.TextIOWrapper(o, encoding="utf-8-sig", newline="")
    reader = csv.DictReader(text, delimiter=mapping.delimiter, strict=True)
    try:
        for record in reader:
            cells = {key: value for key, value in record.items() if key is not None}
            yield reader.line_num, cells
    except (csv.Error, UnicodeDecodeError) as problem:
        raise InvalidInput(f"Line {reader.line_num} is not CSV: {problem}.") from None
    finally:
        text.detach()


_RECORDS: Mapping[str, Callable[[IO[bytes], Mapped], Iterator[tuple[int, Any]]]] = {
    JSON: _from_json,
    JSONL: _from_jsonl,
    CSV: _from_csv,
}
