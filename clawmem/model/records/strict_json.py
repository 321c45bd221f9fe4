"""JSON from outside, read within bounds: what it gives can be written again, as JSON and as UTF-8."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from math import isfinite
from typing import Any

from clawmem.model.records.bounds import JSON_BYTES, JSON_DEPTH, JSON_VALUES, NUMBER_DIGITS, beyond

Pairs = Callable[[list[tuple[str, Any]]], Any]


def read_json(data: str | bytes, most: int = JSON_BYTES, pairs: Pairs | None = None, halves: bool = False) -> Any:
    """The value of a JSON text; ValueError with a sentence where it is none, or goes beyond a bound.

    Refused are lone surrogates, numbers that no float holds, and nesting that other readers stop at;
    `halves` lets the surrogates through, to who mends them.
    """
    if len(data) > most:
        raise ValueError(beyond("it", len(data), most, "bytes" if isinstance(data, bytes) else "characters"))
    text = data.decode("utf-8-sig") if isinstance(data, bytes) else data
    brackets = text.count("[") + text.count("{")
    if brackets > JSON_DEPTH and brackets + text.count(",") > JSON_VALUES:
        raise ValueError(beyond("it", brackets + text.count(","), JSON_VALUES, "brackets and commas"))
    try:
        value = json.loads(text, object_pairs_hook=pairs, **NUMBERS)
    except RecursionError:
        raise _too_deep() from None
    if brackets > JSON_DEPTH:
        refuse_deep(value)
    if "\\u" in text and not halves:
        refuse_surrogates(value)
    return value


def refuse_deep(value: Any) -> None:
    """Raise ValueError where lists and objects stand within each other more often than the bound allows."""
    level = [value]
    for _ in range(JSON_DEPTH):
        level = [one for held in level for one in _inner(held) if type(one) in (dict, list)]
        if not level:
            return
    raise _too_deep()


def refuse_surrogates(value: Any) -> None:
    """Raise ValueError where a text holds half of a character, which no UTF-8 file can hold."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as problem:
        half = ord(problem.object[problem.start])
        raise ValueError(f"it holds the half of a character, \\u{half:04x}") from None


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
    raise ValueError(f"{name} is no number in JSON")


# How a decoder of JSON is to read numbers.
NUMBERS: Mapping[str, Any] = {"parse_int": _whole, "parse_float": _number, "parse_constant": _no_number}
