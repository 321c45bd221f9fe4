"""YAML from outside, read within bounds: plain values only, and no more of them than the text is long."""

from __future__ import annotations

from math import isfinite
from typing import Any

from clawmem.errors import Unreadable
from clawmem.model.records.bounds import NUMBER_DIGITS, YAML_ALIASES, YAML_BYTES, YAML_DEPTH, YAML_NUMBER, beyond_limit

_KEYS = (str, int, float, bool, type(None))


def parse_yaml(text: str, name: str) -> Any:
    """YAML text as plain values; raises Unreadable naming the line that is wrong or goes beyond a bound."""
    import yaml  # 11 ms to import: only where a YAML file really has to be parsed

    if len(text) > YAML_BYTES:
        raise Unreadable(name, None, beyond_limit("it", len(text), YAML_BYTES, "characters"))
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        _refuse_unbounded(text, name, loader)
        value = yaml.load(text, Loader=loader)
    except yaml.YAMLError as problem:
        mark = getattr(problem, "problem_mark", None)
        what = getattr(problem, "problem", None) or "it is not YAML"
        raise Unreadable(name, mark.line + 1 if mark else None, f"it is not valid YAML ({what})") from None
    except (ValueError, OverflowError) as problem:
        # What PyYAML lets through where it makes a date or a number.
        raise Unreadable(name, None, f"it is not valid YAML ({problem})") from None
    _refuse_odd(value, name)
    return value


def _refuse_unbounded(text: str, name: str, loader: Any) -> None:
    """Go through the text without making anything of it: to make values of what is deep takes the whole stack, and
    of aliases of aliases the whole memory."""
    import yaml

    opened: list[str | None] = []
    aliases = 0
    for event in yaml.parse(text, Loader=loader):
        line = event.start_mark.line + 1 if event.start_mark else 0
        if isinstance(event, yaml.AliasEvent):
            aliases += 1
            if event.anchor in opened:
                raise Unreadable(name, line, f"*{event.anchor} stands within what it names")
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
    # A style is what quotes give: only plain scalars are read as numbers.
    number = not event.style and event.value[:1] in ("+", "-", ".", *"0123456789")
    if number and len(event.value) > YAML_NUMBER and not any(letter.isspace() for letter in event.value):
        raise Unreadable(name, line, "a number is too long")
    if any("\ud800" <= letter <= "\udfff" for letter in event.value):
        raise Unreadable(name, line, "it holds the half of a character")


def _refuse_odd(value: Any, name: str) -> None:
    """Raise Unreadable where YAML made something that JSON, and the settings kept as JSON, cannot hold."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            if not all(isinstance(key, _KEYS) for key in one):
                raise Unreadable(name, None, "a key is neither a text nor a number")
            waiting += one.keys()
            waiting += one.values()
        elif isinstance(one, list | tuple | set):
            waiting += one
        elif isinstance(one, float) and not isfinite(one):
            raise Unreadable(name, None, f"{one} is not a number that a setting can have")
        elif isinstance(one, int) and abs(one) >= 10**NUMBER_DIGITS:
            raise Unreadable(name, None, "a number is too large")
