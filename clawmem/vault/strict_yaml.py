"""Parsing untrusted YAML within limits: plain values only, with bounds on size, depth and aliases."""

from __future__ import annotations

from math import isfinite
from typing import Any

from clawmem.errors import Unreadable, UnreadableKey
from clawmem.model.records.strict_json import (
    NUMBER_DIGITS,
    YAML_ALIASES,
    YAML_BYTES,
    YAML_DEPTH,
    YAML_NUMBER,
    beyond_limit,
)

_KEYS = (str, int, float, bool, type(None))


def parse_yaml(text: str, name: str, as_text: bool = False) -> Any:
    """Return YAML text as plain values; `as_text` leaves each as it is written, such as NO and 12:30.

    Raise Unreadable, with the line number, if it is invalid or exceeds a limit."""
    import yaml  # 11 ms to import: only where a YAML file really has to be parsed

    if len(text) > YAML_BYTES:
        raise Unreadable(name, None, beyond_limit("it", len(text), YAML_BYTES, "characters"))
    kind = "BaseLoader" if as_text else "SafeLoader"
    loader = getattr(yaml, f"C{kind}", getattr(yaml, kind))
    try:
        _refuse_unbounded(text, name, loader)
        value = yaml.load(text, Loader=loader)
    except yaml.YAMLError as problem:
        mark = getattr(problem, "problem_mark", None)
        what = getattr(problem, "problem", None) or "it is not YAML"
        raise Unreadable(name, mark.line + 1 if mark else None, f"it is not valid YAML ({what})") from None
    except (ValueError, OverflowError) as problem:
        # PyYAML does not wrap the errors of its date and number constructors.
        raise Unreadable(name, None, f"it is not valid YAML ({problem})") from None
    _refuse_odd(value, name)
    return value


def with_line(problem: UnreadableKey, data: bytes) -> UnreadableKey:
    """Return the error with the line of its key in the YAML text, or of the nearest key above it that is there."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    node = yaml.compose(data.decode("utf-8-sig"), Loader=loader)
    line = 1
    for key in problem.keys:
        if isinstance(node, yaml.MappingNode):
            found = next((pair for pair in node.value if pair[0].value == str(key)), None)
        elif isinstance(node, yaml.SequenceNode) and isinstance(key, int) and key < len(node.value):
            found = (node.value[key], node.value[key])
        else:
            found = None
        if found is None:
            break
        line, node = found[0].start_mark.line + 1, found[1]
    return UnreadableKey(problem.path, problem.keys, problem.problem, line)


def _refuse_unbounded(text: str, name: str, loader: Any) -> None:
    """Check the parser events before any value is constructed.

    Constructing deeply nested values can exhaust the stack, and aliases of aliases can exhaust the memory.
    """
    import yaml

    opened: list[str | None] = []
    aliases = 0
    for event in yaml.parse(text, Loader=loader):
        line = event.start_mark.line + 1 if event.start_mark else 0
        if isinstance(event, yaml.AliasEvent):
            aliases += 1
            if event.anchor in opened:
                raise Unreadable(name, line, f"*{event.anchor} refers to a value that contains it")
            if aliases > YAML_ALIASES:
                raise Unreadable(name, line, f"it has more than {YAML_ALIASES} aliases")
        elif isinstance(event, yaml.CollectionStartEvent):
            opened.append(event.anchor)
            if len(opened) > YAML_DEPTH:
                raise Unreadable(name, line, f"it is nested deeper than {YAML_DEPTH} levels")
        elif isinstance(event, yaml.CollectionEndEvent):
            opened.pop()
        elif isinstance(event, yaml.ScalarEvent):
            _refuse_scalar(event, name, line)


def _refuse_scalar(event: Any, name: str, line: int) -> None:
    # Quoted scalars have a style. Only plain scalars are read as numbers.
    number = not event.style and event.value[:1] in ("+", "-", ".", *"0123456789")
    if number and len(event.value) > YAML_NUMBER and not any(letter.isspace() for letter in event.value):
        raise Unreadable(name, line, "a number is too long")
    if any("\ud800" <= letter <= "\udfff" for letter in event.value):
        raise Unreadable(name, line, "it contains a lone surrogate")


def _refuse_odd(value: Any, name: str) -> None:
    """Raise Unreadable for values that JSON cannot represent, because parsed settings are cached as JSON."""
    waiting = [value]
    while waiting:
        record = waiting.pop()
        if isinstance(record, dict):
            if not all(isinstance(key, _KEYS) for key in record):
                raise Unreadable(name, None, "a key is neither text nor a number")
            waiting += record.keys()
            waiting += record.values()
        elif isinstance(record, list | tuple | set):
            waiting += record
        elif isinstance(record, float) and not isfinite(record):
            raise Unreadable(name, None, f"{record} is not a finite number")
        elif isinstance(record, int) and abs(record) >= 10**NUMBER_DIGITS:
            raise Unreadable(name, None, "a number is too large")
