"""The week of summaries: tiers on pages are those of its beginning, so that no page changes by time alone within it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from clawmem.model.settings.settings import WEEKDAYS


def week_began(now: datetime, day: str, hour: int) -> datetime:
    """The latest moment, not after `now`, at which a week begins: that day of the week at that hour, UTC."""
    moment = now.astimezone(UTC)
    start = moment.replace(hour=hour, minute=0, second=0, microsecond=0)
    start -= timedelta(days=(moment.weekday() - WEEKDAYS.index(day)) % 7)
    return start if start <= moment else start - timedelta(days=7)


def night_of(now: datetime, hour: int) -> str:
    """The newest day that is over and whose night has reached `hour` (UTC), as `YYYY-MM-DD`."""
    return (now.astimezone(UTC) - timedelta(days=1, hours=hour)).date().isoformat()


def days_after(last: str | None, due: str, most: int) -> tuple[str, ...]:
    """The days after `last` up to `due`, at most the newest `most`; only `due` where there is no last one."""
    if last is None:
        return (due,)
    first = datetime.fromisoformat(last).date()
    count = (datetime.fromisoformat(due).date() - first).days
    return tuple((first + timedelta(days=step)).isoformat() for step in range(max(1, count - most + 1), count + 1))
