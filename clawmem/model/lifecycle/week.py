"""The week of summaries: pages show the tiers of its first moment, so that they do not change within it by time."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple

from clawmem.errors import InvalidInput

# The hour (UTC) from which on the day before is promoted.
_NIGHT_HOUR = 3


def week_began(now: datetime) -> datetime:
    """Return the start of the Sunday (UTC) with which the week of `now` begins."""
    start = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return start - timedelta(days=start.isoweekday() % 7)


def night_of(now: datetime) -> str:
    """Return the newest day whose following night has reached _NIGHT_HOUR (UTC), as `YYYY-MM-DD`."""
    return (now.astimezone(UTC) - timedelta(days=1, hours=_NIGHT_HOUR)).date().isoformat()


def days_after(last: str | None, due: str, most: int) -> tuple[str, ...]:
    """Return the days after `last` up to `due`, the newest `most` of them; only `due` if `last` is None."""
    if last is None:
        return (due,)
    first = datetime.fromisoformat(last).date()
    count = (datetime.fromisoformat(due).date() - first).days
    return tuple((first + timedelta(days=step)).isoformat() for step in range(max(1, count - most + 1), count + 1))


class IsoWeek(NamedTuple):
    """A week of ISO 8601: its name, such as `2026-W47`, and its first and last day."""

    name: str
    first: date
    last: date


def iso_week(day: date) -> IsoWeek:
    """Return the week of a day."""
    year, week, weekday = day.isocalendar()
    first = day - timedelta(days=weekday - 1)
    return IsoWeek(f"{year:04d}-W{week:02d}", first, first + timedelta(days=6))


def week_named(name: str) -> IsoWeek:
    """Return the week of a name such as `2026-W47`. Raise InvalidInput for any other text."""
    year, mark, week = name.strip().upper().partition("-W")
    if mark and len(year) == 4 and len(week) == 2 and (year + week).isascii() and (year + week).isdigit():
        with suppress(ValueError):
            return iso_week(date.fromisocalendar(int(year), int(week), 1))
    raise InvalidInput(f"'{name}' is not a week.", "Write the year and the ISO week, such as 2026-W47.")


def last_full_week(now: datetime) -> IsoWeek:
    """Return the newest week that is over (UTC)."""
    return iso_week(now.astimezone(UTC).date() - timedelta(days=7))
