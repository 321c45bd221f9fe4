"""YAML files that map ids to entries: what is wrong is named with its line and its key."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from clawmem.errors import Unreadable, UnreadableKey
from clawmem.model.forms import WrongValue
from clawmem.model.records.parsing import Yaml, text, yaml_value

_Record = TypeVar("_Record")
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
