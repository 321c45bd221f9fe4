"""Read JSON from a file piece by piece: one object per line, or documents and arrays of any size."""

from __future__ import annotations

import codecs
import json
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from clawmem.model.records.bounds import RECORD_BYTES
from clawmem.model.records.strict_json import NUMBERS, json_problem, read_json, refuse_deep
from clawmem.model.transcripts.message import SkippedLine

_SPACE = " \t\r\n"
# A decoder that ran out of text reports an error this close to the end.
_MARGIN = 16


class JsonRecord(NamedTuple):
    """A JSON object and the 1-based line on which it starts."""

    line: int
    value: dict[str, Any]


def by_line(lines: Iterable[bytes]) -> Iterator[JsonRecord | SkippedLine]:
    """Yield the objects of JSON Lines, and a skipped line for each invalid one."""
    for number, line in enumerate(lines, 1):
        if line.strip():
            yield parsed(number, line.removeprefix(codecs.BOM_UTF8) if number == 1 else line)


def parsed(number: int, line: bytes) -> JsonRecord | SkippedLine:
    """Read one line of JSON Lines."""
    if len(line) > RECORD_BYTES:
        return SkippedLine(number, f"it is longer than {RECORD_BYTES:,} bytes")
    try:
        return _record(number, read_json(line.decode(), RECORD_BYTES, halves=True))
    except UnicodeDecodeError:
        return SkippedLine(number, "it is not UTF-8 text")
    except ValueError as problem:
        return SkippedLine(number, f"it is not JSON: {json_problem(problem)}")


def documents(blocks: Iterable[bytes]) -> Iterator[JsonRecord | SkippedLine]:
    """The objects in a row of JSON documents, or in one array of them; no more than one of them is held at a time.

    What stands after JSON that is broken cannot be read any more.
    """
    supply = _TextBuffer(blocks)
    try:
        while supply.to_next():
            yield _record(supply.line, supply.take())
    except UnicodeDecodeError:
        yield SkippedLine(supply.line, "from here on it is not UTF-8 text")
    except (ValueError, RecursionError) as problem:
        yield SkippedLine(supply.line, f"from here on it is not JSON ({problem})")


def _record(number: int, value: Any) -> JsonRecord | SkippedLine:
    return JsonRecord(number, value) if isinstance(value, dict) else SkippedLine(number, "it is not a JSON object")


class _TextBuffer:
    """Text that arrives in blocks; only the part that is not read yet is kept in memory."""

    def __init__(self, blocks: Iterable[bytes]) -> None:
        self._blocks = iter(blocks)
        self._utf8 = codecs.getincrementaldecoder("utf-8-sig")()
        self._json = json.JSONDecoder(**NUMBERS)
        self._text = ""
        self.line = 1

    def to_next(self) -> bool:
        """Move to the start of the next value; return False at the end."""
        while True:
            rest = self._text.lstrip(_SPACE + "[],")
            self._consume(len(self._text) - len(rest))
            if rest or not self._more(1):
                return bool(rest)

    def take(self) -> Any:
        """Return the value at the current position."""
        while True:
            try:
                value, end = self._json.raw_decode(self._text)
            except json.JSONDecodeError as problem:
                if len(self._text) > RECORD_BYTES:
                    raise ValueError(f"one record is longer than {RECORD_BYTES:,} characters") from None
                if not self._ends_early(problem) or not self._more(len(self._text)):
                    raise
                continue
            refuse_deep(value)
            self._consume(end)
            return value

    def _ends_early(self, problem: json.JSONDecodeError) -> bool:
        return problem.msg.startswith("Unterminated string") or problem.pos >= len(self._text) - _MARGIN

    def _more(self, wanted: int) -> bool:
        parts, size = [self._text], 0
        for block in self._blocks:
            parts.append(self._utf8.decode(block))
            size += len(parts[-1])
            if size >= wanted:
                break
        else:
            parts.append(self._utf8.decode(b"", final=True))
            size += len(parts[-1])
        self._text = "".join(parts)
        return size > 0

    def _consume(self, end: int) -> None:
        self.line += self._text.count("\n", 0, end)
        self._text = self._text[end:]
