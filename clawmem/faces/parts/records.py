"""The records of an answer, one a line or with only some of their fields.

The records of a command are the lists in its data that `Command.records` names, in one order if there are several. A
value that is no list is one record, and so is the whole data of a command that names none.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from clawmem.errors import InvalidInput
from clawmem.faces.parts.command import Command, Shape, Table
from clawmem.faces.parts.shapes import keys_of
from clawmem.model.language.text import one_line

IN = "in"
"""The key that says from which list a record is, where a command has several."""
RANK = "rank"
"""The key by which the records of several lists are in one order."""

_Record = Mapping[str, Any]


class Selection(NamedTuple):
    """The records of a command that a call asked for: each as one line of JSON if `as_lines`, and only with these
    fields unless there are none."""

    command: Command
    fields: tuple[str, ...]
    as_lines: bool

    def data(self, data: _Record) -> dict[str, Any]:
        """The lists of the data with the fields of each record; nothing else of the data."""
        items = [key for key in self.command.records if key in data]
        if not items:
            return self.chosen(data)
        return {key: _each(_made(data[key]), self.chosen) for key in items}

    def shown(self, data: _Record) -> Sequence[str] | Table:
        """Each record as one line of JSON, or as a row of a table: there, what is not text is written as JSON, and what
        a record does not have is empty."""
        records = self._records(data)
        if self.as_lines:
            return [json.dumps(self.chosen(record), ensure_ascii=False) for record in records]
        return Table(self.fields, [[_cell(record.get(name)) for name in self.fields] for record in records])

    def _records(self, data: _Record) -> list[_Record]:
        items = [key for key in self.command.records if key in data]
        if not items:
            return [{key: _made(value) for key, value in data.items()}]
        lists = {key: value if isinstance(value := _made(data[key]), list) else [value] for key in items}
        if len(self.command.records) == 1:
            return lists[items[0]]
        merged = [{IN: key, **record} for key, records in lists.items() for record in records]
        return sorted(merged, key=lambda record: record[RANK])

    def chosen(self, record: _Record) -> dict[str, Any]:
        """Return one record with the fields that were asked for."""
        names = self.fields or record
        return {name: _made(record[name]) for name in names if name in record}


def selection(command: Command, fields: str | None, as_lines: bool, as_json: bool) -> Selection:
    """What `--fields` and `--jsonl` ask for. Raises InvalidInput for a field that no record of the command can have."""
    if as_lines and as_json:
        raise InvalidInput("--json and --jsonl cannot be combined.", "Use one of them.")
    names = tuple(dict.fromkeys(word.strip() for word in (fields or "").split(",") if word.strip()))
    if fields is not None and not names:
        raise InvalidInput("--fields is empty.", "Name fields between commas, such as --fields id,fact.")
    known = record_fields(command)
    for name in names:
        if name not in known:
            raise InvalidInput(f"'{name}' is not a field of these records.", f"They have {', '.join(known)}.")
    return Selection(command, names, as_lines)


def record_fields(command: Command) -> Sequence[str]:
    """The names of the fields that the records of a command can have, in the order of its shape."""
    shapes: list[Shape] = [command.shape]
    if command.records:
        whole = dict(keys_of(command.shape))
        shapes = [whole[key] for key in command.records]
    names = [name for shape in shapes for name, _ in keys_of(shape)]
    return list(dict.fromkeys(([IN] if len(command.records) > 1 else []) + names))


def _made(value: Any) -> Any:
    return value() if callable(value) else value


def _each(value: Any, act: Any) -> Any:
    return [act(other) for other in value] if isinstance(value, list) else act(value)


def _cell(value: Any) -> str:
    if value is None or isinstance(value, str):
        return one_line(value or "")
    return json.dumps(value, ensure_ascii=False)
