"""The week of summaries: pages show the tiers of its first moment, so that they do not change within it by time."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from clawmem.model.settings.settings import WEEKDAYS


def week_began(now: datetime, day: str, hour: int) -> datetime:
    """Return the latest moment up to `now` at which a week begins: that weekday at that hour (UTC)."""
    moment = now.astimezone(UTC)
    start = moment.replace(hour=hour, minute=0, second=0, microsecond=0)
    start -= timedelta(days=(moment.weekday() - WEEKDAYS.index(day)) % 7)
    return start if start <= moment else start - timedelta(days=7)


def night_of(now: datetime, hour: int) -> str:
    """Return the newest day whose following night has reached `hour` (UTC), as `YYYY-MM-DD`."""
    return (now.astimezone(UTC) - timedelta(days=1, hours=hour)).date().isoformat()


def days_after(last: str | None, due: str, most: int) -> tuple[str, ...]:
    """Return the days after `last` up to `due`, the newest `most` of them; only `due` if `last` is None."""
    if last is None:
        return (due,)
    first = datetime.fromisoformat(last).date()
    count = (datetime.fromisoformat(due).date() - first).days
    return tuple((first + timedelta(days=step)).isoformat() for step in range(max(1, count - most + 1), count + 1))
