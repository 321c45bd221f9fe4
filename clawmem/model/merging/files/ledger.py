"""Merge one day's events of two machines: every line of both, once, in time order."""

from __future__ import annotations

import json
from collections.abc import Container
from typing import Any, NamedTuple

from clawmem.model.history.redaction import MARK
from clawmem.model.merging.facts.values import interleave
from clawmem.model.records.strict_json import read_json


class _Line(NamedTuple):
    """A line as written, the id of its event (or the line itself if it has no id), and its time."""

    raw: bytes
    name: str
    time: str


def merge_ledger(base: bytes, ours: bytes, theirs: bytes, cited: Container[str] = ()) -> bytes:
    """Return the lines of both sides.

    A line that one side removed stays out, unless `cited` contains its id. Versions of an event that differ only in
    their marks (revoked, recalled, redacted) become one line.
    """
    before, items, other = _lines(base), _lines(ours), _lines(theirs)
    known = {line.raw for line in before}
    mine, yours = {line.raw for line in items}, {line.raw for line in other}
    changed = {line.name for line in (*items, *other) if line.raw not in known}
    kept = [line for line in before if _stays(line, mine, yours, cited, changed)]
    added = interleave(
        [line for line in items if line.raw not in known],
        [line for line in other if line.raw not in known and line.raw not in mine],
        lambda line: line.time,
        lambda line: f"{line.name}\0{line.raw!r}",
    )
    return b"".join(line.raw + b"\n" for line in _in_place(kept, _each_once(added)))


def kept_for_facts(base: bytes, ours: bytes, theirs: bytes, cited: Container[str]) -> tuple[str, ...]:
    """Return the events in `cited` that one side removed and that `merge_ledger` keeps."""
    if not cited or ours == theirs:
        return ()
    sides = [frozenset(data.split(b"\n")) for data in (ours, theirs)]
    lines = [_line(raw) for raw in base.split(b"\n") if raw.strip() and (raw in sides[0]) != (raw in sides[1])]
    wanted = [line for line in lines if line.name in cited]
    if not wanted:
        return ()
    changed = {_line(raw).name for side in sides for raw in side - frozenset(base.split(b"\n")) if raw.strip()}
    return tuple(line.name for line in wanted if line.name not in changed)


def _stays(line: _Line, mine: set[bytes], yours: set[bytes], cited: Container[str], changed: Container[str]) -> bool:
    if line.raw in mine and line.raw in yours:
        return True
    return line.name in cited and line.name not in changed and (line.raw in mine or line.raw in yours)


def _each_once(lines: list[_Line]) -> list[_Line]:
    """Join the versions of an event that differ only in their marks; keep all others, in order."""
    versions: dict[str, list[_Line]] = {}
    for line in lines:
        versions.setdefault(line.name, []).append(line)
    joined = {name: _joined(same) if len(same) > 1 else same for name, same in versions.items()}
    return [other_line for line in lines for other_line in joined.pop(line.name, ())]


def _joined(same: list[_Line]) -> list[_Line]:
    """Return one line for several versions of an event, with all their marks, or all lines if their texts differ.

    A version that is redacted, or without what is to be forgotten, replaces those that are not.
    """
    records = [read_json(line.raw) for line in same]
    silent = [
        other_record
        for other_record in records
        if MARK in str(other_record.get("text")) or "withheld" in (other_record.get("metadata") or {})
    ]
    if silent and len(silent) < len(records):
        same = [line for line, record in zip(same, records, strict=True) if record in silent]
        return _joined(same) if len(same) > 1 else same
    if len({record.get("text") for record in records}) > 1:
        return same
    first = min(same, key=lambda line: (line.time, line.raw))
    record = _marked(read_json(first.raw), records)
    raw = json.dumps(record, ensure_ascii=False).encode(errors="surrogatepass")
    return [first if record == read_json(first.raw) else first._replace(raw=raw)]


def _marked(record: dict[str, Any], records: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a record with the marks of all: recalled from this memory, and the first day of a revocation."""
    marked = dict(record)
    if any(other_record.get("recalled") for other_record in records):
        marked["recalled"] = True
    found = [other_record["metadata"] for other_record in records if isinstance(other_record.get("metadata"), dict)]
    days = [str(other["revoked"]) for other in found if other.get("revoked")]
    if days:
        own = marked.get("metadata")
        marked["metadata"] = {**(own if isinstance(own, dict) else {}), "revoked": min(days)}
    return marked


def _in_place(kept: list[_Line], added: list[_Line]) -> list[_Line]:
    """Insert each new line after the old lines that are not later."""
    merged = list(kept)
    latest = max((line.time for line in kept), default="")
    for line in added:
        if line.time >= latest:
            merged.append(line)
            latest = line.time
        else:
            place = next((at for at, other_line in enumerate(merged) if other_line.time > line.time), len(merged))
            merged.insert(place, line)
    return merged


def _lines(data: bytes) -> list[_Line]:
    return [_line(raw) for raw in dict.fromkeys(data.split(b"\n")) if raw.strip()]


def _line(raw: bytes) -> _Line:
    try:
        record = read_json(raw)
        return _Line(raw, str(record["id"]), str(record["timestamp"]))
    except (ValueError, KeyError, TypeError):
        return _Line(raw, raw.decode(errors="replace"), "")
