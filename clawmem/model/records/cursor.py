"""The learning cursor: the events read per day, and the mention counts of names without an entity."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence

from clawmem.errors import Unreadable
from clawmem.model.named_tuple import NamedTuple
from clawmem.model.records.event import Event
from clawmem.model.records.strict_json import read_json

CURSOR_PATH = "ledger/learned.json"


class DayProgress(NamedTuple):
    """How many events of a day were read, and the id of the last one."""

    events: int
    last: str


class LearningCursor(NamedTuple):
    """The progress by day, the mention counts by normalised title, and how far a model or an agent has read each day.

    `days` is how far anything has read, also the rules alone. A model may read later what only the rules have read.
    """

    days: Mapping[str, DayProgress]
    mentions: Mapping[str, int]
    by_model: Mapping[str, DayProgress] = {}


def events_after(events: Sequence[Event], reached: DayProgress | None) -> Sequence[Event]:
    """Return the unread events of a day; all if the read part changed, as after an undo or a merge."""
    if reached is None or not 0 < reached.events <= len(events) or events[reached.events - 1].id != reached.last:
        return events
    return events[reached.events :]


def number_after(events: Iterable[Event], reached: DayProgress | None, counts: Callable[[Event], bool]) -> int:
    """Return how many of the unread events of a day count, without holding all events at once."""
    number = 0
    for place, event in enumerate(events, 1):
        if reached is not None and place == reached.events and event.id == reached.last:
            number = 0
        elif counts(event):
            number += 1
    return number


def changed_days(old: LearningCursor, new: LearningCursor) -> frozenset[str]:
    """Return the days whose progress differs between two cursors, for example after an undo or a merge."""
    days = old.days.keys() | new.days.keys()
    return frozenset(day for day in days if old.days.get(day) != new.days.get(day))


def read_up_to(cursor: LearningCursor, day: str, events: Sequence[Event]) -> LearningCursor:
    """Return the cursor with no more of a day read than these first events of it."""

    def back(rows: Mapping[str, DayProgress]) -> dict[str, DayProgress]:
        further = day in rows and rows[day].events > len(events)
        kept = {other_day: progress for other_day, progress in rows.items() if not (further and other_day == day)}
        return {**kept, **({day: DayProgress(len(events), events[-1].id)} if further and events else {})}

    return cursor._replace(days=back(cursor.days), by_model=back(cursor.by_model))


def parse_cursor(data: bytes | None) -> LearningCursor:
    """Parse the cursor, empty if `data` is None. Raise Unreadable if it is damaged."""
    if data is None:
        return LearningCursor({}, {})
    try:
        record = read_json(data)
        days, by_model = _progress(record["days"]), _progress(record.get("by_model", {}))
        mentions = {str(title): int(count) for title, count in record.get("mentions", {}).items()}
    except (ValueError, KeyError, TypeError, AttributeError) as problem:
        raise Unreadable(CURSOR_PATH, None, f"it does not hold the progress of learning ({problem})") from None
    return LearningCursor(days, mentions, by_model)


def _progress(rows: Mapping[str, tuple[int, str]]) -> dict[str, DayProgress]:
    return {str(day): DayProgress(int(number), str(last)) for day, (number, last) in rows.items()}


def render_cursor(cursor: LearningCursor) -> bytes:
    """Render the cursor as JSON with one day or title per line, for readable diffs."""
    days, mentions = dict(sorted(cursor.days.items())), dict(sorted(cursor.mentions.items()))
    blocks = [_block("days", days), _block("mentions", mentions)]
    if cursor.by_model:
        blocks.append(_block("by_model", dict(sorted(cursor.by_model.items()))))
    return ("{\n" + ",\n".join(blocks) + "\n}\n").encode()


def _block(name: str, rows: Mapping[str, object]) -> str:
    lines = [f"  {json.dumps(key, ensure_ascii=False)}: {json.dumps(value)}" for key, value in rows.items()]
    return f' "{name}": {{' + ("\n" + ",\n".join(lines) + "\n }" if lines else "}")
