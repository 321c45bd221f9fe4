"""Edit one entry of a JSON file and keep every other byte: comments, order, indentation and trailing commas."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, NamedTuple

_SKIPPED = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
_PLAIN = re.compile(r"-?[0-9][0-9.eE+-]*|true|false|null")
_INDENT = "  "
_DEEPEST = 200


class Broken(ValueError):
    """The text is not JSON, with the 1-based line of the problem."""

    def __init__(self, line: int) -> None:
        super().__init__(f"line {line} is not JSON")
        self.line = line


class Node(NamedTuple):
    """A value in a text: where it is, what it is, and the nodes in it, for an object with their keys and where these
    begin."""

    start: int
    end: int
    value: Any
    items: tuple[Node, ...] = ()
    keys: tuple[tuple[str, int], ...] = ()

    def member(self, key: str) -> Node | None:
        """The value of a key; the last one if the key repeats."""
        if not isinstance(self.value, dict):
            return None
        found = [node for (name, _), node in zip(self.keys, self.items, strict=True) if name == key]
        return found[-1] if found else None


def parse(text: str) -> Node:
    """Read a text. An empty one is an empty object. Raise Broken where it is not JSON with comments."""
    start = _skip(text, 1 if text.startswith("\ufeff") else 0)
    if start == len(text):
        return Node(start, start, {})
    node = _value(text, start, 0)
    if _skip(text, node.end) != len(text):
        raise _broken(text, _skip(text, node.end))
    return node


def with_entry(text: str, path: Sequence[str], value: Any, append: bool) -> str:
    """Return the text with a value at a path of keys, or with `append` as the last item of the list there. Objects and
    the list are made where they are missing.

    Raise Broken, or TypeError where something else stands at the path."""
    root = parse(text)
    if root.start == root.end:
        return text + json.dumps(_nested(path, [value] if append else value), indent=2, ensure_ascii=False) + "\n"
    trail = _trail(root, path)
    node, depth = trail[-1], len(trail) - 1
    if depth < len(path):
        if not isinstance(node.value, dict):
            raise TypeError(".".join(path[:depth]) or "the file")
        rest = _nested(path[depth + 1 :], [value] if append else value)
        return _inserted(text, node, f"{json.dumps(path[depth], ensure_ascii=False)}: ", rest, depth + 1)
    if not append:
        return text[: node.start] + _shown(value, len(path)) + text[node.end :]
    if not isinstance(node.value, list):
        raise TypeError(".".join(path))
    return _inserted(text, node, "", value, len(path) + 1)


def without_entry(text: str, path: Sequence[str], value: Any, append: bool, made: int) -> str:
    """Return the text without the value that `with_entry` put there; the text itself if it is not there any more.

    Containers that are empty then are removed too, down to the depth `made` of those that existed before."""
    trail = _trail(parse(text), path)
    if len(trail) <= len(path):
        return text
    if append:
        items = trail[-1].items if isinstance(trail[-1].value, list) else ()
        at = next((number for number, item in enumerate(items) if item.value == value), None)
        if at is None:
            return text
        changed = _removed(text, trail[-1], at)
    elif trail[-1].value == value:
        changed = _removed(text, trail[-2], _index(trail[-2], path[-1]))
    else:
        return text
    above = path if append else path[:-1]
    for depth in range(len(above), made, -1):
        trail = _trail(parse(changed), above[:depth])
        if len(trail) <= depth or trail[-1].items:
            break
        changed = _removed(changed, trail[-2], _index(trail[-2], above[depth - 1]))
    return changed


def depth_of(text: str, path: Sequence[str]) -> int:
    """Return how many keys of a path exist."""
    return len(_trail(parse(text), path)) - 1


def value_at(text: str, path: Sequence[str]) -> Any:
    """Return the value at a path of keys, or None."""
    trail = _trail(parse(text), path)
    return trail[-1].value if len(trail) > len(path) else None


def _trail(root: Node, path: Sequence[str]) -> list[Node]:
    """The nodes from the root along a path of keys, as far as it exists."""
    trail = [root]
    for key in path:
        below = trail[-1].member(key)
        if below is None:
            break
        trail.append(below)
    return trail


def _index(node: Node, key: str) -> int:
    return max(number for number, (name, _) in enumerate(node.keys) if name == key)


def _removed(text: str, holder: Node, at: int) -> str:
    """The text without one item: with the comma before it, or for the first one the comma behind it."""
    starts = [place for _, place in holder.keys] or [item.start for item in holder.items]
    if at > 0:
        return text[: holder.items[at - 1].end] + text[holder.items[at].end :]
    if len(holder.items) > 1:
        return text[: starts[0]] + text[starts[1] :]
    end = holder.items[0].end
    behind = _skip(text, end)
    if text[behind : behind + 1] == ",":
        end = behind + 1
    inside = text[holder.start + 1 : starts[0]] + text[end : holder.end - 1]
    return text[: holder.start + 1] + ("" if not inside.strip() else inside) + text[holder.end - 1 :]


def _inserted(text: str, holder: Node, before: str, value: Any, depth: int) -> str:
    entry = before + _shown(value, depth)
    if holder.items:
        end = holder.items[-1].end
        return text[:end] + ",\n" + _INDENT * depth + entry + text[end:]
    inside = text[holder.start + 1 : holder.end - 1].rstrip()
    close = f"\n{_INDENT * (depth - 1)}{text[holder.end - 1]}"
    return text[: holder.start + 1] + inside + f"\n{_INDENT * depth}{entry}{close}" + text[holder.end :]


def _shown(value: Any, depth: int) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False).replace("\n", "\n" + _INDENT * depth)


def _nested(path: Sequence[str], value: Any) -> Any:
    for key in reversed(path):
        value = {key: value}
    return value


def _value(text: str, at: int, depth: int) -> Node:
    mark = text[at : at + 1]
    if depth > _DEEPEST:
        raise _broken(text, at)
    if mark in ("{", "["):
        return _container(text, at, depth)
    found = (_STRING if mark == '"' else _PLAIN).match(text, at)
    if found is None:
        raise _broken(text, at)
    try:
        return Node(at, found.end(), json.loads(found[0], strict=False))
    except ValueError:
        raise _broken(text, at) from None


def _container(text: str, start: int, depth: int) -> Node:
    is_object = text[start] == "{"
    close = "}" if is_object else "]"
    keys: list[tuple[str, int]] = []
    items: list[Node] = []
    at = _skip(text, start + 1)
    while text[at : at + 1] != close:
        if is_object:
            found = _STRING.match(text, at)
            colon = _skip(text, found.end()) if found else at
            if found is None or text[colon : colon + 1] != ":":
                raise _broken(text, at)
            keys.append((json.loads(found[0], strict=False), at))
            at = _skip(text, colon + 1)
        items.append(_value(text, at, depth + 1))
        at = _skip(text, items[-1].end)
        if text[at : at + 1] == ",":
            at = _skip(text, at + 1)
        elif text[at : at + 1] != close:
            raise _broken(text, at)
    values = [item.value for item in items]
    value = dict(zip((name for name, _ in keys), values, strict=True)) if is_object else values
    return Node(start, at + 1, value, tuple(items), tuple(keys))


def _skip(text: str, at: int) -> int:
    found = _SKIPPED.match(text, at)
    return found.end() if found else at


def _broken(text: str, at: int) -> Broken:
    return Broken(text.count("\n", 0, at) + 1)
