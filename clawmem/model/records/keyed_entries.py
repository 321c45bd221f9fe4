"""YAML files that map ids to entries with known keys: what is wrong is named with its line and its key."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from clawmem.errors import Unreadable
from clawmem.model.records.parsing import Yaml, text, yaml_value
from clawmem.model.records.yaml_lines import line_of_key

_ID = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?")


class EntryForm(NamedTuple):
    """The form of an entry: its keys, and the words for it and for what it holds."""

    keys: tuple[str, ...]
    kind: str
    holds: str


class KeyedEntry(NamedTuple):
    """An entry of a file: its id, its keys, and the file for messages."""

    id: str
    held: Mapping[str, Any]
    path: str
    written: str

    def wrong(self, key: str, what: str) -> Unreadable:
        """Return the error that a key of the entry is wrong, with the line of the key, else of the entry."""
        return _wrong(self.path, self.written, self.id, f"{self.id}.{key}", what)


def keyed_entries(data: bytes, path: str, yaml: Yaml, form: EntryForm) -> list[KeyedEntry]:
    """Return the entries in file order. Raise Unreadable for a wrong id, an unknown key, or no keys at all."""
    held = yaml_value(data, path, yaml)
    if held is None:
        return []
    if not isinstance(held, Mapping):
        raise Unreadable(path, None, f"it does not map {form.kind}s to their {form.holds}")
    written = text(data, path, yaml)
    return [_entry(KeyedEntry(str(name), one, path, written), form) for name, one in held.items()]


def _entry(entry: KeyedEntry, form: EntryForm) -> KeyedEntry:
    if not _ID.fullmatch(entry.id):
        said = f"is no id of a {form.kind}: use lower-case letters, digits and -"
        raise _wrong(entry.path, entry.written, entry.id, entry.id, said)
    if not isinstance(entry.held, Mapping):
        said = f"has no keys below it; the keys are {', '.join(form.keys)}"
        raise _wrong(entry.path, entry.written, entry.id, entry.id, said)
    for key in entry.held:
        if key not in form.keys:
            raise entry.wrong(key, f"is unknown; the keys are {', '.join(form.keys)}")
    return entry


def _wrong(path: str, written: str, name: str, key: str, what: str) -> Unreadable:
    line = line_of_key(written, key) or line_of_key(written, name)
    return Unreadable(path, line, f"the key '{key}' {what}")
