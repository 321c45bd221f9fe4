"""Merge JSON files that hold one object: proposals, the learning cursor, promotion outcomes, and any other."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from clawmem.errors import InvalidInput, Unreadable
from clawmem.model.merging.facts.values import MISSING, canonical, merge_mappings, more_complete, three_way
from clawmem.model.proposals.proposal import APPROVED, OPEN, REJECTED
from clawmem.model.proposals.proposal_file import proposal_from_record, render_proposal
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
    return _as_written(merge_mappings(base, ours, theirs, _DEPTH), max(files)).encode()


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
    return _as_written(merged, max(files)).encode()


def _object(data: bytes) -> dict[str, Any] | None:
    try:
        found = read_json(data)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def merged_proposal(base: Record, ours: Record, theirs: Record, files: tuple[bytes, bytes]) -> bytes | None:
    """A proposal: what was approved wins over what was rejected, and that over what is open."""
    merged = merge_mappings(base, ours, theirs, 1)

    def join(pair: tuple[Any, Any], other: tuple[Any, Any]) -> tuple[Any, Any]:
        return max(pair, other, key=lambda ruling: (_STATES.get(ruling[0], -1), canonical(ruling[1])))

    known = (base.get("status"), base.get("decided")) if base else MISSING
    rulings = [(side.get("status"), side.get("decided")) for side in (ours, theirs)]
    status, decided = three_way(known, rulings[0], rulings[1], join)
    merged["status"] = status
    merged.pop("decided", None)
    if decided is not None:
        merged["decided"] = decided
    others = [other for state, other in rulings if other not in (None, decided) and state != OPEN]
    if others:
        merged["also_decided"] = more_complete(others[0], merged.get("also_decided"))
    try:
        return render_proposal(proposal_from_record(merged))
    except InvalidInput:
        return None


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


def _as_written(record: Mapping[str, Any], like: bytes) -> str:
    """Return the object in clawmem's layout: one line for each key, and one for each entry of an inner object."""
    if b"\n" not in like.strip():
        return json.dumps(record, ensure_ascii=False) + "\n"
    rows = (f" {_plain(key)}: {_inner(value)}" for key, value in record.items())
    return "{\n" + ",\n".join(rows) + "\n}\n"


def _plain(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _inner(value: Any) -> str:
    if not isinstance(value, Mapping) or not value:
        return _plain(value)
    rows = (f"  {_plain(key)}: {_plain(other)}" for key, other in value.items())
    return "{\n" + ",\n".join(rows) + "\n }"
