"""Read JSON from outside within limits, so that the result can be written again as JSON and UTF-8."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from math import isfinite
from typing import Any

from clawmem.model.records.bounds import JSON_BYTES, JSON_DEPTH, JSON_VALUES, NUMBER_DIGITS, beyond_limit

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
