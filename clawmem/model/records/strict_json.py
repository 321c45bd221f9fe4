"""Read JSON from outside within limits, so that the result can be written again as JSON and UTF-8."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from math import isfinite
from typing import Any
from zlib import crc32

from clawmem.errors import Unreadable

# Nesting levels of lists and objects, in JSON and in YAML.
JSON_DEPTH = 64
YAML_DEPTH = 32
# Longer whole numbers do not fit into a float, and many JSON readers use floats for all numbers.
NUMBER_DIGITS = 300
# A counter must fit into SQLite's 64 bits.
LARGEST_NUMBER = 2**63 - 1
# Number of lists, objects and values in one JSON text: each takes memory, even in a short text.
JSON_VALUES = 2_000_000
# YAML repeats the target of an alias, and aliases of aliases multiply.
YAML_ALIASES = 8
YAML_BYTES = 1 << 20
# A longer plain scalar that starts like a number is not a number; parsing it as one can take quadratic time.
YAML_NUMBER = 4_000
# One file of facts, or another JSON file of a vault.
JSON_BYTES = 32 << 20
# One page, or any other text file of a vault.
TEXT_BYTES = 32 << 20
# One day of a ledger.
LEDGER_BYTES = 256 << 20
# No file has a lower limit, so a smaller file need not be compared with the limit of its kind.
LOWEST_FILE_LIMIT = YAML_BYTES
# One event: a line of a ledger, and the text of one ingested message.
LEDGER_LINE_BYTES = 32 << 20
MESSAGE_CHARACTERS = 4_000_000
# One line, or one JSON document, of a transcript.
RECORD_BYTES = 16 << 20
# A question to `recall` or `context`.
QUESTION_CHARACTERS = 100_000
# The manifest of a backup.
MANIFEST_BYTES = 16 << 20


def beyond_limit(what: str, number: int, most: int, unit: str) -> str:
    """Return the message, without its end, for a value beyond a limit."""
    return f"{what} has {number:,} {unit}; the limit is {most:,}"


class UnreadFile(bytes):
    """Stands for the contents of a file beyond its limit, which were not read.

    `blob` is git's name for the contents, `size` their length and `limit` the most that are read, both in bytes. As
    bytes it is text in no encoding, JSON or YAML, and equal for equal contents, so that no parser accepts it and
    comparisons still work.
    """

    blob: str
    size: int
    limit: int

    @classmethod
    def of(cls, blob: str, size: int, limit: int) -> UnreadFile:
        """Return what stands for a blob."""
        made = cls(f"\0{blob}\0".encode() + b"\xff")
        made.blob, made.size, made.limit = blob, size, limit
        return made


def refuse_unread(data: bytes | None, path: str) -> None:
    """Raise Unreadable if these are contents beyond their limit."""
    if isinstance(data, UnreadFile):
        raise Unreadable(path, None, beyond_limit("it", data.size, data.limit, "bytes"))


Pairs = Callable[[list[tuple[str, Any]]], Any]


def read_json(data: str | bytes, most: int = JSON_BYTES, pairs: Pairs | None = None, halves: bool = False) -> Any:
    """Return the value of a JSON text. Raise ValueError with a sentence if it is invalid or beyond a limit.

    Lone surrogates, numbers too large for a float, and deep nesting are refused. `most` limits the length. With
    `halves`, lone surrogates are let through, for callers that repair them.
    """
    if len(data) > most:
        raise ValueError(beyond_limit("it", len(data), most, "bytes" if isinstance(data, bytes) else "characters"))
    text = data.decode("utf-8-sig") if isinstance(data, bytes) else data
    brackets = text.count("[") + text.count("{")
    if brackets > JSON_DEPTH and brackets + text.count(",") > JSON_VALUES:
        raise ValueError(beyond_limit("it", brackets + text.count(","), JSON_VALUES, "brackets and commas"))
    try:
        value = json.loads(text, object_pairs_hook=pairs, **NUMBERS)
    except RecursionError:
        raise _too_deep() from None
    if brackets > JSON_DEPTH:
        refuse_deep(value)
    if "\\u" in text and not halves:
        refuse_surrogates(value)
    return value


def json_problem(problem: ValueError) -> str:
    """Return why `read_json` refused a text, in a clause that says what is expected and where."""
    if isinstance(problem, UnicodeDecodeError):
        return f"it is not UTF-8 text at byte {problem.start}"
    if not isinstance(problem, json.JSONDecodeError):
        return str(problem)
    expected = next((words for start, words in _EXPECTED.items() if problem.msg.startswith(start)), problem.msg)
    line = f" of line {problem.lineno}" if "\n" in problem.doc.strip() else ""
    return f"{expected} at column {problem.colno}{line}"


# What the decoder of Python says, as its first words, and what is meant.
_EXPECTED = {
    "Expecting value": 'a value is expected, such as {"key": "text"},',
    "Expecting property name": "a key in double quotes is expected",
    "Expecting ':'": "a colon is expected",
    "Expecting ','": "a comma or a closing bracket is expected",
    "Extra data": "there is more text behind the value,",
    "Unterminated string": "a text has no closing quote; it begins",
    "Invalid control character": "a text has a line break or another control character that is not escaped",
    "Invalid \\": "a backslash begins no valid escape",
    "Illegal trailing comma": "there is a comma before the closing bracket",
}


def refuse_deep(value: Any) -> None:
    """Raise ValueError if lists and objects are nested deeper than the limit."""
    level = [value]
    for _ in range(JSON_DEPTH):
        level = [candidate for other in level for candidate in _inner(other) if type(candidate) in (dict, list)]
        if not level:
            return
    raise _too_deep()


def refuse_surrogates(value: Any) -> None:
    """Raise ValueError if a text contains a lone surrogate, which UTF-8 cannot encode."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as problem:
        half = ord(problem.object[problem.start])
        raise ValueError(f"it contains half of a character, \\u{half:04x}") from None


def _inner(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()


def _too_deep() -> ValueError:
    return ValueError(f"it is nested deeper than {JSON_DEPTH} levels")


def _whole(digits: str) -> int:
    if len(digits) > NUMBER_DIGITS:
        raise ValueError(f"the number {digits[:20]}… is too large")
    return int(digits)


def _number(digits: str) -> float:
    number = float(digits)
    if not isfinite(number):
        raise ValueError(f"the number {digits[:20]} is too large")
    return number


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is not a number in JSON")


# How the JSON decoder reads numbers.
NUMBERS: Mapping[str, Any] = {"parse_int": _whole, "parse_float": _number, "parse_constant": _no_number}


_NUL, _INSTEAD = "\0", "\ufffd"


def stored_json(value: Any) -> str:
    """Return a value as JSON in which each NUL character became U+FFFD: PostgreSQL does not store one."""
    text = json.dumps(value, ensure_ascii=False)
    return json.dumps(_without_nul(value), ensure_ascii=False) if "\\u0000" in text else text


def _without_nul(value: Any) -> Any:
    if isinstance(value, str):
        return value.replace(_NUL, _INSTEAD)
    if isinstance(value, dict):
        return {key.replace(_NUL, _INSTEAD): _without_nul(other) for key, other in value.items()}
    return [_without_nul(other) for other in value] if isinstance(value, list | tuple) else value


def checksum(*parts: object) -> int:
    """Return the CRC-32 of the parts as text; changing a single byte always changes it."""
    return crc32("\x1f".join(map(str, parts)).encode(errors="surrogatepass"))


def texts_in(value: Any) -> Iterator[str]:
    """Yield every text in a JSON value, including keys."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield str(key)
            yield from texts_in(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from texts_in(inner)
