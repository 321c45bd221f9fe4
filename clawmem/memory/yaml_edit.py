"""Edit YAML text in place. All other bytes stay the same: comments, blank lines, quotes and indentation."""

from __future__ import annotations

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from clawmem.errors import Refused
from clawmem.model.pages.summary import yaml_scalar
from clawmem.vault.strict_yaml import parse_yaml

_INDENT = "  "

# Text that needs no quotes, not even in a flow mapping.
_PLAIN = re.compile(r"[\w./@ -]+")


def with_value(text: str, key: str, value: int | float | bool | str, name: str) -> str:
    """Return the text with a dotted key set to a value. A missing key is added to its section, or at the end.

    `name` is the file name for messages. Raise Unreadable if the text is not YAML. Raise Refused if the result would
    not parse to the old values with only this change, for example if the value is an alias.
    """
    wanted = _changed(parse_yaml(text, name) or {}, key, value)
    parts = key.split(".")
    for scalar in _scalar_forms(value):
        candidate = _edit(text, parts, scalar)
        if _reads_as(candidate, wanted, name):
            return candidate
    raise Refused(f"{key} cannot be changed safely in {name} as it is laid out.", f"Edit {name} by hand.")


def _changed(old: Any, key: str, value: object) -> Any:
    *path, last = key.split(".")
    new = place = dict(old) if isinstance(old, dict) else {}
    for part in path:
        inner = place.get(part)
        place[part] = dict(inner) if isinstance(inner, dict) else {}
        place = place[part]
    place[last] = value
    return new


def _scalar_forms(value: int | float | bool | str) -> Sequence[str]:
    """Return the possible notations of a value, the simplest first."""
    if isinstance(value, bool):
        return ("true" if value else "false",)
    if isinstance(value, str):
        return (value, yaml_scalar(value)) if _PLAIN.fullmatch(value) else (yaml_scalar(value),)
    # Above 2**53 a float without a decimal point would be read as another number.
    return (format_number(value), f"{format_number(value)}.0")


def format_number(number: int | float) -> str:
    """Return a number without an exponent, which YAML may read as text."""
    return f"{Decimal(repr(number)):f}".removesuffix(".0")


def _reads_as(candidate: str, wanted: object, name: str) -> bool:
    try:
        return bool(parse_yaml(candidate, name) == wanted)
    except Exception:  # noqa: BLE001 - if it does not parse, the next notation is tried
        return False


def _edit(text: str, parts: Sequence[str], scalar: str) -> str:
    import yaml

    node = yaml.compose(text, Loader=yaml.SafeLoader)
    if not isinstance(node, yaml.MappingNode):
        return _appended(text, parts, scalar)
    for depth, part in enumerate(parts):
        found = next(((key, value) for key, value in reversed(node.value) if key.value == part), None)
        if found is None:
            return _inserted(text, node, parts[depth:], scalar, top=depth == 0)
        key_node, value_node = found
        if depth == len(parts) - 1:
            return _replaced(text, value_node, scalar)
        if not isinstance(value_node, yaml.MappingNode):
            return _with_first_key(text, node, key_node, value_node, parts[depth + 1 :], scalar)
        node = value_node
    return text


def _with_first_key(text: str, parent: Any, key: Any, empty: Any, parts: Sequence[str], scalar: str) -> str:
    """Add the first key to an empty section."""
    if parent.flow_style or empty.end_mark.index > empty.start_mark.index:
        return _replaced(text, empty, "{" + _in_flow(parts, scalar) + "}")
    return _line_added(text, key.start_mark.line, key.start_mark.column, _INDENT, parts, scalar)


def _in_flow(parts: Sequence[str], scalar: str) -> str:
    return f"{': {'.join(parts)}: {scalar}{'}' * (len(parts) - 1)}"


def _replaced(text: str, node: Any, scalar: str) -> str:
    start, end = node.start_mark.index, node.end_mark.index
    old = text[start:end]
    before = "" if text[:start].endswith((" ", "\t")) else " "
    after = "\n" if old.endswith("\n") else ""
    return text[:start] + before + scalar + after + text[end:]


def _inserted(text: str, node: Any, parts: Sequence[str], scalar: str, top: bool) -> str:
    if node.flow_style:
        place = node.end_mark.index - 1
        comma = ", " if node.value else ""
        return text[:place].rstrip() + comma + _in_flow(parts, scalar) + text[place:]
    if top:
        return _appended(text, parts, scalar)
    last = node.value[-1][1].end_mark
    line = last.line if last.column else last.line - 1
    return _line_added(text, line, node.start_mark.column, "", parts, scalar)


def _line_added(text: str, line: int, column: int, indent: str, parts: Sequence[str], scalar: str) -> str:
    lines = text.splitlines(keepends=True)
    if not lines[line].endswith("\n"):
        lines[line] += "\n"
    lines.insert(line + 1, _nested(parts, scalar, " " * column + indent))
    return "".join(lines)


def _appended(text: str, parts: Sequence[str], scalar: str) -> str:
    gap = "" if not text or text.endswith("\n") else "\n"
    return text + gap + _nested(parts, scalar, "")


def _nested(parts: Sequence[str], scalar: str, indent: str) -> str:
    lines = [f"{indent}{_INDENT * depth}{part}:" for depth, part in enumerate(parts)]
    return "\n".join(lines) + f" {scalar}\n"
