"""Times in the vault's format: ISO 8601, UTC, to the second; and the weeks of summaries.

Pages show the tiers of the first moment of a week, so that they do not change within it by time.
"""

import re
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache

from clawmem.errors import InvalidInput
from clawmem.model.named_tuple import NamedTuple

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


def last_full_week(now: datetime) -> IsoWeek:
    """Return the newest week that is over (UTC)."""
    return iso_week(now.astimezone(UTC).date() - timedelta(days=7))


# Compiled where they are used: most commands read no typed time.
_DAY = r"\d{4}-\d{2}-\d{2}"
_MONTH = r"(\d{4})(?:-(\d{2}))?"
_DATED = r"\d{1,4}[-/.]\d"
_AGO = r"(\d{1,4})\s*([dwmy])"
_BACK = r"(?:(?:last|past) )?(\d{1,4}) ?(day|week|month|year)s?|()(day|week|month|year)"
_UNIT_DAYS = {"d": 1, "w": 7, "m": 30, "y": 365}


def stamp(moment: datetime) -> str:
    """Return a moment as `YYYY-MM-DDTHH:MM:SSZ`."""
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="seconds") + "Z"


def stamp_of_seconds(seconds: int) -> str:
    """Return seconds since 1970 like `stamp`; git stores years before 1 and after 9999, which become these."""
    return stamp(datetime.fromtimestamp(min(max(seconds, -62_135_596_800), 253_402_300_799), UTC))


def day_of(moment: str) -> str:
    """Return the day (`YYYY-MM-DD`) of a written time."""
    return moment[:10]


@lru_cache(maxsize=4096)
def minute(moment: str) -> str:
    """Return a written time to the minute, as people read it: in UTC, and saying so. A day stays a day."""
    return f"{moment[:10]} {moment[11:16]} UTC" if len(moment) > len("2026-11-21") else moment


def moment_of(text: str) -> datetime:
    """Return a written time, or the first instant of a bare day, as an aware datetime. Raise ValueError if invalid."""
    moment = datetime.fromisoformat(text)
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def days_between(earlier: str, later: datetime) -> float:
    """Return the days from a written time to `later`: negative if it is in the future, 0 if it is invalid."""
    try:
        return (later - moment_of(earlier)).total_seconds() / 86400
    except ValueError:
        return 0.0


def parse_moment(text: str, now: datetime, what: str = "date") -> str:
    """A date or time that a person typed, normalised: a bare day stays a day, a time becomes UTC.

    Accepts ISO dates and times, `today`, `yesterday`, `tomorrow` and `3d`, `2w`, `6m`, `1y` (ago).
    Raises InvalidInput otherwise.
    """
    return _typed(text, now) or _refuse(text, what, "2026-11-21T09:30:00Z")


def parse_start(text: str, now: datetime, ahead: bool = False) -> str:
    """Return a typed begin like `parse_moment`; "2 weeks" is that long ago, a month or a year means its first day.
    `ahead` means that a bare weekday is the coming one."""
    days = days_of(text)
    return days[0] if days else _typed(text if ahead else _short(text), now) or _in_words(text, now, ahead)[0]


def parse_end(text: str, now: datetime, ahead: bool = False) -> str:
    """Return a typed end like `parse_start`; of a month or year, the last day. With `ahead`, "2w" is in two weeks."""
    days = days_of(text)
    if days:
        return days[1]
    coming = re.fullmatch(_AGO, _short(text).strip().lower()) if ahead else None
    if coming:
        return (now.date() + timedelta(days=int(coming[1]) * _UNIT_DAYS[coming[2]])).isoformat()
    return _typed(text if ahead else _short(text), now) or _in_words(text, now, ahead)[1]


def parse_state(text: str, now: datetime) -> str:
    """Return a typed moment like `parse_moment`; a month or a year means its last day, but at most today."""

    days = days_of(text)
    if days is None:
        return _typed(text, now) or min(_in_words(text, now)[1], stamp(now)[:10])
    today = now.date().isoformat()
    return today if days[0] <= today <= days[1] else days[1]


def parse_period(text: str, now: datetime) -> tuple[str, str] | None:
    """Return the first and the last day of a typed day, week, month or year, or None for other text and times.

    A number of days ago (`3d`) means the days from then to today; the weekday that today is, today."""
    from clawmem.model.language.date_words import is_weekday  # its pattern takes milliseconds to compile

    text = stamp(now)[:10] if is_weekday(text, now.date()) else text
    try:
        first, last = parse_start(text, now), parse_end(text, now)
    except InvalidInput:
        return None
    last = stamp(now)[:10] if re.fullmatch(_AGO, _short(text).strip().lower()) else last
    return (first, last) if len(first) == 10 else None


def days_of(text: str) -> tuple[str, str] | None:
    """Return the first and last day of a month or a year, or None for other text."""
    month = re.fullmatch(_MONTH, text.strip())
    if month is None:
        return None
    year, first, last = int(month[1]), int(month[2] or 1), int(month[2] or 12)
    try:
        final = date(year, 12, 31) if last == 12 else date(year, last + 1, 1) - timedelta(days=1)
        return date(year, first, 1).isoformat(), final.isoformat()
    except ValueError:
        return None


def _in_words(text: str, now: datetime, ahead: bool = False) -> tuple[str, str]:
    """Return the first and last day of a date in words, such as "last week" or "9 November"."""
    from clawmem.model.language.date_words import days_in_words  # its pattern takes milliseconds to compile

    return days_in_words(text, now.date(), ahead) or (_refuse(text), "")


def _short(text: str) -> str:
    """Return "2 weeks" and "week" as `2w` and `1w`; other text as it is."""
    back = re.fullmatch(_BACK, text.strip().lower())
    return text if back is None else f"{back[1] or 1}{(back[2] or back[4])[0]}"


def _typed(text: str, now: datetime) -> str | None:
    value = text.strip()
    named = {"today": 0, "yesterday": -1, "tomorrow": 1}
    if value.lower() in named:
        return (now.date() + timedelta(days=named[value.lower()])).isoformat()
    ago = re.fullmatch(_AGO, value.lower())
    try:
        if ago:
            return (now.date() - timedelta(days=int(ago[1]) * _UNIT_DAYS[ago[2]])).isoformat()
        if re.fullmatch(_DAY, value):
            return date.fromisoformat(value).isoformat()
        if "-" in value and len(value) > 10:
            return stamp(moment_of(value))
    except (ValueError, OverflowError):
        pass
    return None


def _refuse(text: str, what: str = "date", more: str = "2026-11, 2026, 2026-11-21T09:30:00Z") -> str:
    raise InvalidInput(
        f"'{text}' is not a {what}.",
        f"Write 2026-11-21, {more}, today, yesterday, 'last week', '9 November', or 3d, 2w, 6m, 1y for that long ago.",
    )


def end_of(moment: str) -> str:
    """Return the last instant of a written time; a bare day lasts until its final second."""
    return f"{moment}T23:59:59Z" if len(moment) == 10 else moment


def looks_like_a_date(text: str) -> bool:
    """Return whether a text is clearly meant as a date, valid or not."""
    return re.match(_DATED, text.strip()) is not None


def sortable(written: str | None, end: bool = False) -> str | None:
    """Return a written time in a form that sorts as text: a bare day, or UTC to the second.

    A month or a year means its first day, or its last one with `end`. Return None if the text is not a time.
    """
    if written is None or (len(written) == 20 and written[10] == "T" and written[19] == "Z"):
        return written
    value = written.strip()
    try:
        if re.fullmatch(_DAY, value):
            return date.fromisoformat(value).isoformat()
        if days := days_of(value):
            return days[end]
        return stamp(moment_of(value))
    except (ValueError, OverflowError):
        return None


def begin_instant(written: str) -> str:
    """Return the first instant of a sortable time (`YYYY-MM-DD` or a time in UTC)."""
    return f"{written}T00:00:00Z" if len(written) == 10 else written


def after_end(written: str | None) -> str | None:
    """Return the instant at which a written end is over, as a sortable time, or None if the text is not a time.

    A day, a month or a year is included, and so is the last second of a day. The instant is then
    `YYYY-MM-DDT24:00:00Z`, which sorts between that day and the next one. Any other time is excluded.
    """
    last = sortable(written, end=True)
    if last is not None and end_of(last).endswith("T23:59:59Z"):
        return f"{day_of(last)}T24:00:00Z"
    return last


def covers(begin: str | None, end: str | None, moment: str) -> bool:
    """Return whether the half-open interval [begin, end) of sortable times contains `moment`; None is open.

    A bare day as `moment` means its last instant. As text a bare day sorts before any moment of that day, as the
    midnight it means.
    """
    instant = end_of(moment)
    return (begin is None or begin <= instant) and (end is None or instant < end)
