"""How far learning has come: events read per day, and names mentioned that are no entities yet."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from clawmem.errors import Unreadable
from clawmem.model.records.event import Event
from clawmem.model.records.strict_json import read_json

PATH = "ledger/learned.json"


class DayProgress(NamedTuple):
    """How many events of a day were learned from, and the id of the last of them."""

    events: int
    last: str


class LearningCursor(NamedTuple):
    """How far each day was learned from, and mentions so far, by title in its normal form."""

    days: Mapping[str, DayProgress]
    mentions: Mapping[str, int]


def unread(events: Sequence[Event], reached: DayProgress | None) -> Sequence[Event]:
    """The events of a day that were not learned from yet; all of them where the day changed before that point,
    as after an undo or a merge."""
    if reached is None or len(events) < reached.events or events[reached.events - 1].id != reached.last:
        return events
    return events[reached.events :]


def moved(old: LearningCursor, new: LearningCursor) -> frozenset[str]:
    """The days that learning stands elsewhere in, as after an undo or a merge."""
    days = old.days.keys() | new.days.keys()
    return frozenset(day for day in days if old.days.get(day) != new.days.get(day))


def parse_cursor(data: bytes | None) -> LearningCursor:
    """The cursor as kept in the vault; the beginning where there is none."""
    if data is None:
        return LearningCursor({}, {})
    try:
        record = read_json(data)
        days = {str(day): DayProgress(int(number), str(last)) for day, (number, last) in record["days"].items()}
        mentions = {str(title): int(count) for title, count in record.get("mentions", {}).items()}
    except (ValueError, KeyError, TypeError, AttributeError) as problem:
        raise Unreadable(PATH, None, f"it does not say how far learning has come ({problem})") from None
    return LearningCursor(days, mentions)


def render_cursor(cursor: LearningCursor) -> bytes:
    """The cursor as JSON, one day and one title a line, so that a diff shows what moved."""
    days, mentions = dict(sorted(cursor.days.items())), dict(sorted(cursor.mentions.items()))
    return ("{\n" + _block("days", days) + ",\n" + _block("mentions", mentions) + "\n}\n").encode()


def _block(name: str, rows: Mapping[str, object]) -> str:
    lines = [f"  {json.dumps(key, ensure_ascii=False)}: {json.dumps(value)}" for key, value in rows.items()]
    return f' "{name}": {{' + ("\n" + ",\n".join(lines) + "\n }" if lines else "}")
