"""Merge JSON files that hold one object: proposals, the learning cursor, promotion outcomes, and any other."""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Mapping
from typing import Any, NamedTuple

from clawmem.errors import InvalidInput, Unreadable
from clawmem.model.facts.fact import REDACTED
from clawmem.model.merging.fields import MISSING, canonical, interleave, merge_mappings, more_complete, three_way
from clawmem.model.proposals.proposal import APPROVED, OPEN, REJECTED, proposal_from_record, render_proposal
from clawmem.model.records.accesses import merged_accesses, parse_accesses, render_accesses
from clawmem.model.records.digestion import merged_queues
from clawmem.model.records.session import render_object
from clawmem.model.records.strict_json import read_json

Record = dict[str, Any]
# Merges three objects, given with the bytes of our and their file; None where the result cannot be written.
MergeRecords = Callable[[Record, Record, Record, tuple[bytes, bytes]], bytes | None]
_DEPTH = 4
_SESSION_STATES = {"open": 0, "abandoned": 1, "ended": 2}
# The lists of a session record, and the key by which two entries are one; without a key, equal entries are one.
_LISTS = {"notes": "id", "checkpoints": "at", "served": "", "collisions": ""}
# A proposal that was carried out wins over a rejected one, and that one over an open one.
_STATES = {OPEN: 0, REJECTED: 1, APPROVED: 2}


def merge_records(merge: MergeRecords, base: bytes | None, ours: bytes, theirs: bytes) -> bytes | None:
    """The file merged as a JSON object, or None where a version holds no JSON object."""
    before, record, other = (_object(data) for data in (base or b"{}", ours, theirs))
    if before is None or record is None or other is None:
        return None
    return merge(before, record, other, (ours, theirs))


def merged_object(base: Record, ours: Record, theirs: Record, files: tuple[bytes, bytes]) -> bytes:
    """Key by key."""
    return _as_written(merge_mappings(base, ours, theirs, _DEPTH), max(files))


def latest_adaptation(base: Record, ours: Record, theirs: Record, files: tuple[bytes, bytes]) -> bytes:
    """The file that was changed later, as a whole: its values depend on each other."""
    both = zip((ours, theirs), files, strict=True)
    return max(both, key=lambda side: (canonical(side[0].get("changed")), side[1]))[1]


def summed_accesses(base: Record, ours: Record, theirs: Record, files: tuple[bytes, bytes]) -> bytes | None:
    """The accesses that both sides counted, added up; None where a file is not one of counts."""
    try:
        sides = [parse_accesses(json.dumps(side).encode()) for side in (base, ours, theirs)]
    except Unreadable:
        return None
    return render_accesses(merged_accesses(*sides))


def merged_cursor(base: Record, ours: Record, theirs: Record, files: tuple[bytes, bytes]) -> bytes:
    """How far each day was learned from, the further one; mentions are added up."""
    sides = (base, ours, theirs)
    merged = merge_mappings(base, ours, theirs, _DEPTH)
    merged["days"] = _furthest(*(side.get("days") for side in sides))
    merged["mentions"] = _summed(*(side.get("mentions") for side in sides))
    if "by_model" in merged:
        merged["by_model"] = _furthest(*(side.get("by_model") for side in sides))
    return _as_written(merged, max(files))


def _object(data: bytes) -> dict[str, Any] | None:
    try:
        found = read_json(data)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def merged_proposal(base: Record, ours: Record, theirs: Record, files: tuple[bytes, bytes]) -> bytes | None:
    """A proposal: what was approved wins over what was rejected, and that over what is open."""
    merged = merge_mappings(base, ours, theirs, 1)

    def join(ruling: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
        # At the same time the smaller id wins, as where facts replaced each other.
        by_winner = sorted((ruling, other), key=lambda each: (_decision(each, "winner"), canonical(each)))
        return max(by_winner, key=lambda each: (_STATES.get(each.get("status", ""), -1), _decision(each, "at")))

    known = _ruling(base) if base else MISSING
    rulings = [_ruling(side) for side in (ours, theirs)]
    ruling = three_way(known, rulings[0], rulings[1], join)
    merged = {key: value for key, value in merged.items() if key not in _RULING} | ruling
    decided = ruling.get("decided")
    others = [
        other["decided"] for other in rulings if other.get("decided") not in (None, decided) and other["status"] != OPEN
    ]
    if others:
        merged["also_decided"] = more_complete(others[0], merged.get("also_decided"))
    try:
        return render_proposal(proposal_from_record(merged))
    except InvalidInput:
        return None


_RULING = ("status", "decided", "says", "fact", "entity")


def _ruling(side: Record) -> dict[str, Any]:
    """Return what a decision says: it says which fact of a conflict holds."""
    return {key: side[key] for key in _RULING if key in side}


def _decision(ruling: Record, key: str) -> str:
    decided = ruling.get("decided")
    return str(decided.get(key) or "") if isinstance(decided, Mapping) else ""


def merged_digestion(base: Record, ours: Record, theirs: Record, files: tuple[bytes, bytes]) -> bytes:
    """The digestion queue: every source of both sides, at the further phase."""
    return render_object(merged_queues(ours, theirs))


def merged_session(base: Record, ours: Record, theirs: Record, files: tuple[bytes, bytes]) -> bytes:
    """A session: notes, checkpoints and served facts of both sides; an end wins over what is still open."""
    merged = merge_mappings(base, ours, theirs, 1)
    for key, name in _LISTS.items():
        each = [other for side in (ours, theirs) for other in side.get(key) or ()]
        found = {
            canonical(record.get(name) if name and isinstance(record, Mapping) else record): record for record in each
        }
        if found:
            merged[key] = [found[text] for text in sorted(found)]
    states = [side["state"] for side in (ours, theirs) if isinstance(side.get("state"), str)]
    if states:
        merged["state"] = max(states, key=lambda state: (_SESSION_STATES.get(state, -1), state))
    return render_object(merged)


def _furthest(base: Any, ours: Any, theirs: Any) -> dict[str, Any]:
    """Return how far learning has read each day; of two changes, the one that read further.

    Learning reads a day again if the day's events are not the ones it remembers.
    """
    before, record, other = (side if isinstance(side, Mapping) else {} for side in (base, ours, theirs))
    found = {
        day: three_way(before.get(day, MISSING), record.get(day, MISSING), other.get(day, MISSING), _further)
        for day in sorted({*record, *other})
    }
    return {day: reached for day, reached in found.items() if reached is not MISSING}


def _further(other_any: Any, other: Any) -> Any:
    if other_any is MISSING or other is MISSING:
        return other if other_any is MISSING else other_any
    return max(
        other_any, other, key=lambda reached: (reached[:1] if isinstance(reached, list) else [], canonical(reached))
    )


def _summed(base: Any, ours: Any, theirs: Any) -> dict[str, int]:
    """Add up what each side counted, by name; a name that a side removed is dropped."""
    before, record, other = (side if isinstance(side, Mapping) else {} for side in (base, ours, theirs))
    found = {}
    for name in sorted({*record, *other}):
        if name in before and (name not in record or name not in other):
            continue
        count = int(record.get(name, 0)) + int(other.get(name, 0)) - int(before.get(name, 0))
        found[name] = max(0, count)
    return found


def _as_written(record: Mapping[str, Any], like: bytes) -> bytes:
    """Return the object in clawmem's layout: one line for each key, and one for each entry of an inner object."""
    if b"\n" not in like.strip():
        return json.dumps(record, ensure_ascii=False).encode() + b"\n"
    rows = (f" {_plain(key)}: {_inner(value)}" for key, value in record.items())
    return ("{\n" + ",\n".join(rows) + "\n}\n").encode()


def _plain(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _inner(value: Any) -> str:
    if not isinstance(value, Mapping) or not value:
        return _plain(value)
    rows = (f"  {_plain(key)}: {_plain(other)}" for key, other in value.items())
    return "{\n" + ",\n".join(rows) + "\n }"


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
        if REDACTED in str(other_record.get("text")) or "withheld" in (other_record.get("metadata") or {})
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
