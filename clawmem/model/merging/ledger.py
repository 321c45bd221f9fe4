"""A day's events of two machines as one ledger: every line of both, in time order, each once."""

from __future__ import annotations

import json
from collections.abc import Container
from typing import NamedTuple

from clawmem.model.merging.values import interleaved


class _Line(NamedTuple):
    """A line as it is written, the id of its event (the line itself where it has none), and its time."""

    raw: bytes
    name: str
    time: str


def merge_ledger(base: bytes, ours: bytes, theirs: bytes, cited: Container[str] = ()) -> bytes:
    """The lines of both sides. What one side took out stays out, unless an id in `cited` needs it; of two versions of
    one event both stay."""
    before, one, other = _lines(base), _lines(ours), _lines(theirs)
    known = {line.raw for line in before}
    mine, yours = {line.raw for line in one}, {line.raw for line in other}
    kept = [line for line in before if _stays(line, mine, yours, cited)]
    added = interleaved(
        [line for line in one if line.raw not in known],
        [line for line in other if line.raw not in known and line.raw not in mine],
        lambda line: line.time,
        lambda line: line.name,
    )
    return b"".join(line.raw + b"\n" for line in _in_place(kept, added))


def _stays(line: _Line, mine: set[bytes], yours: set[bytes], cited: Container[str]) -> bool:
    if line.raw in mine and line.raw in yours:
        return True
    return line.name in cited and (line.raw in mine or line.raw in yours)


def _in_place(kept: list[_Line], added: list[_Line]) -> list[_Line]:
    """New lines after all old ones that are not later."""
    merged = list(kept)
    latest = max((line.time for line in kept), default="")
    for line in added:
        if line.time >= latest:
            merged.append(line)
            latest = line.time
        else:
            place = next((at for at, one in enumerate(merged) if one.time > line.time), len(merged))
            merged.insert(place, line)
    return merged


def _lines(data: bytes) -> list[_Line]:
    return [_line(raw) for raw in dict.fromkeys(data.split(b"\n")) if raw.strip()]


def _line(raw: bytes) -> _Line:
    try:
        record = json.loads(raw)
        return _Line(raw, str(record["id"]), str(record["timestamp"]))
    except (ValueError, KeyError, TypeError):
        return _Line(raw, raw.decode(errors="replace"), "")
