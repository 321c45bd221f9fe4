"""Find dates in text ("last Friday", "two weeks ago", "in 2019") and resolve them against the day of the statement.

Learning and questions both use this reader. Dates in other languages are first put into the English words; their
patterns are data.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import date, timedelta
from functools import cache, partial

from clawmem.model.language.languages import CHINESE, JAPANESE, dated_languages, rows
from clawmem.model.language.question import DaySpan
from clawmem.model.language.text import plain
from clawmem.model.named_tuple import NamedTuple

_MONTHS = "january february march april may june july august september october november december".split()
_DAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_SEASONS = {"spring": 3, "summer": 6, "fall": 9, "autumn": 9, "winter": 12}
_NUMBERS = {
    word: count
    for count, word in enumerate("zero one two three four five six seven eight nine ten eleven twelve".split())
} | {"a": 1, "an": 1, "a couple of": 2, "a couple": 2, "couple of": 2}
_VAGUE = ("a few", "few", "several", "some", "many")

_COUNT = r"(?P<{}>a couple of|a couple|couple of|a few|few|several|some|many|an|a|" + "|".join(
    [*list(_NUMBERS)[1:13], r"\d{{1,3}})"]
)
_UNIT = r"(?P<{}>day|week|month|year)s?"
_MONTH = r"(?P<{}>" + "|".join(_MONTHS) + r"|(?:jan|feb|mar|apr|jun|jul|aug|sept|sep|oct|nov|dec)\b\.?)"
_SHORT_DAYS = "mon tues tue weds wed thurs thur thu fri sat sun".split()
_DAY = r"(?P<{}>" + "|".join(_DAYS) + ")"
_SPAN = (
    r"(?P<span>weekend|week|month|year|night|spring|summer|fall|autumn|winter|"
    + "|".join(_DAYS + _MONTHS + _SHORT_DAYS)
    + ")"
)
_YEAR = r"(?P<{}>(?:19|20)\d\d)"

_ORDINALS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth "
    "sixteenth seventeenth eighteenth nineteenth twentieth twenty-first twenty-second twenty-third twenty-fourth "
    "twenty-fifth twenty-sixth twenty-seventh twenty-eighth twenty-ninth thirtieth thirty-first"
).split()

_PATTERN = re.compile(
    r"\b(?:"
    r"(?P<near>the day before yesterday|the day after tomorrow|yesterday|today|tonight|tomorrow|last night|"
    r"this (?:morning|afternoon|evening)|earlier today|recently|the other day|not (?:too |so |that )?long ago|"
    r"a (?:short )?while (?:ago|back))(?: (?:morning|afternoon|evening|night))?"
    r"|(?<!half )(?:about |around |like |over )?"
    + _COUNT.format("ago")
    + " "
    + _UNIT.format("ago_unit")
    + r" (?:ago|back)\b"
    r"|in (?:about |around )?" + _COUNT.format("ahead") + " " + _UNIT.format("ahead_unit") + r"(?:'s? time)?\b"
    r"|(?:(?:over|during|in|for|on|by|until|since|around) )?(?:the |early |late )?"
    r"(?P<which>last|past|this past|this coming|coming|this|next|upcoming) " + _SPAN + r"\b"
    r"|(?P<lead>(?:on|by|until|since|from|starting|as of|around|before|after|for|due) )?"
    rf"(?:(?:{'|'.join([*_DAYS, *_SHORT_DAYS])})\.?,? )?(?:the )?(?:"
    + _MONTH.format("md_month")
    + r" (?P<md_day>\d{1,2})(?:st|nd|rd|th)?\b(?:,? "
    + _YEAR.format("md_year")
    + r"\b)?"
    r"|(?P<dm_day>\d{1,2})(?:st|nd|rd|th)?(?: of)? "
    + _MONTH.format("dm_month")
    + r"(?:,? "
    + _YEAR.format("dm_year")
    + r")?\b"
    rf"|(?P<od_day>{'|'.join(_ORDINALS)}) of "
    + _MONTH.format("od_month")
    + r"(?:,? "
    + _YEAR.format("od_year")
    + r")?\b"
    r"|(?P<iso>(?:19|20)\d\d-\d\d-\d\d)\b)"
    r"|(?P<iso_month>(?:19|20)\d\d-\d\d)\b(?!-?\d)"
    r"|" + _MONTH.format("my_month") + r",? " + _YEAR.format("my_year") + r"\b"
    r"|(?:in|since|by|around|until|during|early|late|mid|for|from|starting|as of) (?:early |late |mid-?)?"
    + _MONTH.format("m_month")
    + r"(?: (?:of )?"
    + _YEAR.format("m_year")
    + r")?\b"
    r"|(?:back in|in|since|around|by|during|as of|of) (?:early |late |mid-?)?" + _YEAR.format("year") + r"\b(?!-\d)"
    r"|(?:(?:on|by|until|since|from|starting) )?"
    + _DAY.format("day")
    + r"\b(?!s)(?:,? (?:the )?(?P<number>\d{1,2})(?:st|nd|rd|th)\b"
    r"(?!-| (?:floor|place|grade|hand|time|century|birthday|street|ave)))?"
    r"(?P<later> (?:week|fortnight)\b(?! (?:of|ago|before)\b))?"
    r")",
    re.IGNORECASE,
)


_NUMBERED_DAY = re.compile(
    rf"\b(?:(?P<weekday>{'|'.join(_DAYS)}),? (?:the )?(?P<of_weekday>\d{{1,2}})(?:st|nd|rd|th)|"
    r"the (?P<alone>\d{1,2})(?:st|nd|rd|th)(?=\W*$))\b(?! of\b)(?! (?:" + "|".join(_MONTHS) + r")\b)",
    re.IGNORECASE,
)
_DAYS_BACK = 370
_NEAR_DAYS = 62


# "every Tuesday and Thursday" is a habit, not a date.
# A recurring weekday, an unspecific one ("a Friday"), or one of several ("Tuesday, Thursday and Sunday") is not a date.
_ANY_DAY = rf"(?:{'|'.join(_DAYS)})"
_DAYS_LISTED = re.compile(rf"\b{_ANY_DAY}(?:(?:,? and |,? or |, |/)(?:on )?{_ANY_DAY}\b)+", re.IGNORECASE)
_ANY = re.compile(r"\b(?:(?:every|each|most)(?: other| second)? (?:\w+(?:,| and|, and| or) )*|an? )$", re.IGNORECASE)


# Words before a date on which something ends or is due, inside the match or just before it.
_ENDS = re.compile(r"(?:until|by|before|due)\b", re.IGNORECASE)
_FROM_NOW = re.compile(r"(?:from|starting|as of)\b", re.IGNORECASE)
_SINCE = re.compile(r"(?:since|from|starting|as of)\b", re.IGNORECASE)
# "the report of March 3" only identifies a report; "the summer of 2019" is a time.
_OF = re.compile(r"\b(?P<what>\w+) of(?: the)? $", re.IGNORECASE)
_TIMES = frozenset(
    "spring summer autumn fall winter month week weekend start beginning middle end rest half day morning evening "
    "night as quarter first second third fourth fifth".split()
) | frozenset(_MONTHS)
_UP_TO = re.compile(r"\b(?:until|till|by|before|due|through|to)(?: (?:the|on|in|at|end of))* $", re.IGNORECASE)
_PERIOD = "years?|months?|weeks?|days?|spring|summer|autumn|fall|winter|weekends?|jahr|monat|woche|tag"
_RECURS = re.compile(
    rf"\b(?:every|each|jede[nmrs]?) (?:other |second |single |zweite[nrs]? )?(?:\d|(?:{_PERIOD}|"
    rf"{'|'.join(_MONTHS)}|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|\w+tag)\b)"
    r"|\b(?:annually|yearly|jährlich)\b"
    r"|\b(?:birthdays?|anniversar(?:y|ies)|name day|geburtstag|hochzeitstag|jahrestag)"
    r"(?: (?:is|are|falls?|ist|fällt)\b|:)"
    r"|\b(?:has|have|celebrates?) (?:\w+ ){1,2}(?:birthday|anniversary)\b",
    re.IGNORECASE,
)
_LASTS_UNTIL = re.compile(r"\b(?:until|till|through|bis)\b", re.IGNORECASE)


class DateMatch(NamedTuple):
    """A date in a text: its place, the first day it covers (ISO, None if vague), and a lasting way to write it.

    `relative` means that the words depend on the day of the statement. `until` means that something ends or is due
    then. `span` is the period that the words name, or None if they are vague.
    """

    start: int
    end: int
    day: str | None
    label: str
    relative: bool
    until: bool = False
    names: bool = False
    since: bool = False
    span: DaySpan | None = None


def without_dates(text: str, today: date) -> str:
    """Return a text without its dates, and with those of another language in English words."""
    text = _with_numbered_days(in_english(text, today), today)
    for found in reversed(find_dates(text, today)):
        text = f"{text[: found.start]} {text[found.end :]}"
    return text


def days_in_words(text: str, today: date, ahead: bool = False) -> DaySpan | None:
    """Return the days that a text names which is nothing but a date: "last week", "9 November", "letzte Woche".

    `ahead` means that it looks to the future, which decides which of the bare weekdays and months is meant."""
    words = _with_numbered_days(in_english(text.strip(), today), today)
    found = find_dates(words, today, ahead)
    return found[0].span if len(found) == 1 and (found[0].start, found[0].end) == (0, len(words)) else None


def is_weekday(text: str, day: date) -> bool:
    """Return whether a text is nothing but the English name of the weekday that a day is."""
    return text.strip().lower().removeprefix("on ") == _DAYS[day.weekday()]


def _with_numbered_days(text: str, today: date) -> str:
    """Return a question with the last such day in place of "Saturday the 7th" and of "the 7th" at its end."""

    def iso(found: re.Match[str]) -> str:
        weekday = _DAYS.index(found["weekday"].lower()) if found["weekday"] else None
        days = (today - timedelta(days=back) for back in range(_DAYS_BACK))
        number = int(found["of_weekday"] or found["alone"])
        wanted = (day for day in days if day.day == number and weekday in (None, day.weekday()))
        return next((day.isoformat() for day in wanted), found[0])

    return _NUMBERED_DAY.sub(iso, text)


# What asks for what is to come, unless it asks for what was, or has a number: few questions name a day.
_TO_COME = r"(?i)\b(?:will|shall|can|could|should|may|might|must|happens|is|are|am|do|does|ha(?:ve|s) to)\b"
_GONE = (
    r"(?i)\d|\b(?:did|was|were|had|been|said|told|went|came|took|paid|met|ate|bought|sent|saw|got|wrote|left|gave|last|past|"
    r"(?!(?:planned|scheduled|booked|invited|supposed|closed)\b)\w{3,}ed)\b"
)


def looks_ahead(question: str) -> bool:
    """Return whether a question that names no number asks for what is to come: "can I deploy on Friday?"."""
    return re.search(_TO_COME, question) is not None and re.search(_GONE, question) is None


def days_named(question: str, today: date) -> DaySpan | None:
    """Return the days that a question names: the first date with a year, else the first date; None without a date.

    A bare weekday or month is the coming one where the question asks for what is to come: "can I deploy on Friday?"."""
    text = _with_numbered_days(in_english(question, today), today)
    found = [day for day in find_dates(text, today, looks_ahead(text)) if day.span is not None]
    dated = [match for match in found if not match.label]
    return (dated or found)[0].span if found else None


def written_days(span: DaySpan, most: int) -> list[str]:
    """Return how the first `most` days of a period are written, in lower case: 16 march, march 16, 2026-03-16."""
    first, last = date.fromisoformat(span.first), date.fromisoformat(span.last)
    days = [first + timedelta(days=n) for n in range(min((last - first).days + 1, most))]
    named = [(str(day.day), _MONTHS[day.month - 1], day.isoformat()) for day in days]
    return [text for day, month, iso in named for text in (f"{day} {month}", f"{month} {day}", iso)]


def recurs(text: str) -> bool:
    """Return whether a text is about a day that comes again, such as a birthday, and names no end of that."""
    return _RECURS.search(text) is not None and _LASTS_UNTIL.search(text) is None


def last_coming_day(dates: Iterable[DateMatch], message: date) -> str | None:
    """Return the last day that the future dates of a plan name, or None. A date on which something starts is no end."""
    coming = (
        date_match.span.last
        for date_match in dates
        if date_match.span and date_match.day and not (date_match.since or date_match.names)
    )
    return max((day for day in coming if day > message.isoformat()), default=None)


def find_dates(text: str, day: date, ahead: bool = False) -> tuple[DateMatch, ...]:
    """Return every date in the text. `ahead` means that bare weekdays and months lie in the future."""
    found = []
    listed = [place.span() for place in _DAYS_LISTED.finditer(text)]
    for match in _PATTERN.finditer(text):
        if match["day"] and any(start <= match.start("day") < end for start, end in listed):
            continue
        if match["day"] and _ANY.search(text, max(0, match.start() - 60), match.start("day")):
            continue
        try:
            forward = ahead or _FROM_NOW.match(match[0]) is not None
            reading = _read(match, day, forward)
            span = _span_named(match, reading[0]) if reading else None
        except (ValueError, OverflowError):
            continue
        if reading:
            until = bool(_ENDS.match(match[0]) or _UP_TO.search(text[max(0, match.start() - 20) : match.start()]))
            since = _SINCE.match(match[0]) is not None
            found.append(DateMatch(match.start(), match.end(), *reading, until, _only_names(text, match), since, span))
    return tuple(found)


def _only_names(text: str, match: re.Match[str]) -> bool:
    """Return whether a date belongs to the noun before it and only identifies that noun."""
    start = match.start() + 3 if match[0].lower().startswith("of ") else match.start()
    before = _OF.search(text[max(0, start - 40) : start])
    return before is not None and not before["what"].isdigit() and before["what"].lower() not in _TIMES


_Reading = tuple[str | None, str, bool]


def _read(match: re.Match[str], message: date, ahead: bool) -> _Reading | None:
    part = match.groupdict()
    if part["near"]:
        return _near(part["near"].lower(), message)
    if part["ago_unit"]:
        return _counted(part["ago"].lower(), part["ago_unit"].lower(), message, -1)
    if part["ahead_unit"]:
        return _counted(part["ahead"].lower(), part["ahead_unit"].lower(), message, 1)
    if part["span"]:
        return _span(part["which"].lower(), part["span"].lower(), message)
    if part["iso"]:
        return date.fromisoformat(part["iso"]).isoformat(), "", False
    if part["md_month"] or part["dm_month"]:
        month = _month(part["md_month"] or part["dm_month"])
        year = part["md_year"] or part["dm_year"]
        return _month_day(month, int(part["md_day"] or part["dm_day"]), year, message, ahead)
    if part["od_month"]:
        number = _ORDINALS.index(part["od_day"].lower()) + 1
        return _month_day(_month(part["od_month"]), number, part["od_year"], message, ahead)
    if part["iso_month"]:
        return date.fromisoformat(f"{part['iso_month']}-01").isoformat(), "", False
    if part["my_month"]:
        return date(int(part["my_year"]), _month(part["my_month"]), 1).isoformat(), "", False
    if part["m_month"]:
        return _in_month(_month(part["m_month"]), part["m_year"], message, ahead)
    if part["year"]:
        return f"{part['year']}-01-01", "", False
    weekday = _DAYS.index(part["day"].lower())
    if part["later"]:  # "Thursday week" is seven days after the coming Thursday
        day = _weekday(weekday, message, True) + timedelta(weeks=2 if part["later"].endswith("t") else 1)
        return day.isoformat(), day.isoformat(), True
    day = _numbered(weekday, int(part["number"] or 0), message) or _weekday(weekday, message, ahead)
    return day.isoformat(), day.isoformat(), True


def _numbered(weekday: int, number: int, message: date) -> date | None:
    """Return the nearest day with a number that is such a weekday, or None if there is none within two months."""
    near = (message + timedelta(days=side * away) for away in range(_NEAR_DAYS) for side in (1, -1))
    return next((day for day in near if (day.day, day.weekday()) == (number, weekday)), None)


def _span_named(match: re.Match[str], day: str | None) -> DaySpan | None:
    """Return the period that a date names; "two weeks ago" is not an exact day, and a season has three months."""
    if day is None:
        return None
    part, first = match.groupdict(), date.fromisoformat(day)
    unit = (part["ago_unit"] or part["ahead_unit"] or "").lower()
    if unit == "week":
        return _span_of(first - timedelta(days=3), first + timedelta(days=3))
    unit = unit or _unit_named(part)
    if unit == "year":
        return _span_of(first, date(first.year, 12, 31))
    if unit in ("month", "season"):
        return _span_of(first, _add_months(first, 3 if unit == "season" else 1) - timedelta(days=1))
    return _span_of(first, first + timedelta(days={"week": 6, "weekend": 1}.get(unit, 0)))


def _unit_named(part: Mapping[str, str | None]) -> str:
    span = (part["span"] or "").lower()
    if part["year"] or span == "year":
        return "year"
    if part["iso_month"] or part["my_month"] or part["m_month"] or span == "month" or span in _MONTHS:
        return "month"
    return "season" if span in _SEASONS else span if span in ("week", "weekend") else "day"


def _span_of(first: date, last: date) -> DaySpan:
    return DaySpan(first.isoformat(), last.isoformat())


def _near(words: str, message: date) -> _Reading:
    if words in ("recently", "the other day") or "long" in words or "while" in words:
        side = "some time before" if words.startswith("a while") else "shortly before"
        return None, f"{side} {message.isoformat()}", True
    offsets = {"the day before yesterday": -2, "the day after tomorrow": 2, "yesterday": -1, "last night": -1}
    offset = 1 if words == "tomorrow" else offsets.get(words, 0)
    day = (message + timedelta(days=offset)).isoformat()
    return day, day, True


def _counted(count: str, unit: str, message: date, sign: int) -> _Reading:
    side = "before" if sign < 0 else "after"
    if count in _VAGUE:
        return None, f"{count} {unit}s {side} {message.isoformat()}", True
    number = _NUMBERS.get(count) or int(count)
    if unit == "day":
        day = (message + timedelta(days=sign * number)).isoformat()
        return day, day, True
    if unit == "week":
        day = (message + timedelta(weeks=sign * number)).isoformat()
        return day, f"{'1 week' if number == 1 else f'{number} weeks'} {side} {message.isoformat()}", True
    if unit == "month":
        first = _add_months(message, sign * number)
        return first.isoformat(), _month_label(first), True
    year = date(message.year + sign * number, 1, 1)
    return year.isoformat(), f"{year.year}", True


def _span(which: str, span: str, message: date) -> _Reading | None:
    sign = -1 if which in ("last", "past", "this past") else 0 if which == "this" else 1
    if span in _DAYS or span in _SHORT_DAYS:
        number = next(number for number, name in enumerate(_DAYS) if name.startswith(span[:2]))
        day = _weekday(number, message, ahead=sign >= 0)
        return day.isoformat(), day.isoformat(), True
    if span == "night":
        return _near("last night", message) if sign < 0 else None
    if span == "week":
        return _week(sign, message)
    if span == "weekend":
        return _weekend(sign, message)
    if span == "month":
        first = _add_months(message, sign)
        return first.isoformat(), _month_label(first), True
    if span == "year":
        return f"{message.year + sign}-01-01", f"{message.year + sign}", True
    month = _SEASONS.get(span) or _MONTHS.index(span) + 1
    year = _year_of(month, sign, message)
    name = span if span in _SEASONS else span.capitalize()
    return date(year, month, 1).isoformat(), f"{name} {year}", True


def _week(sign: int, day: date) -> _Reading:
    label = {-1: "the week before", 0: "the week of", 1: "the week after"}[sign]
    monday = day - timedelta(days=day.weekday()) + timedelta(weeks=sign)
    return monday.isoformat(), f"{label} {day.isoformat()}", True


def _weekend(sign: int, day: date) -> _Reading:
    saturday = day + timedelta(days=5 - day.weekday())
    if sign < 0 and saturday >= day - timedelta(days=1):
        saturday -= timedelta(weeks=1)
    if sign > 0 and day.weekday() >= 5:
        saturday += timedelta(weeks=1)
    label = {-1: "the weekend before", 0: "the weekend of", 1: "the weekend after"}[sign]
    return saturday.isoformat(), f"{label} {day.isoformat()}", True


def _year_of(month: int, sign: int, day: date) -> int:
    """Return the year of the last, this or next occurrence of the month."""
    if sign < 0:
        return day.year if month < day.month and month + 2 < day.month else day.year - 1
    if sign > 0:
        return day.year if month > day.month else day.year + 1
    return day.year


def _month_day(month: int, day: int, year: str | None, message: date, ahead: bool) -> _Reading:
    if year:
        return date(int(year), month, day).isoformat(), "", False
    if day > _month_length(2024, month):
        raise ValueError(f"no day {day} in month {month}")
    found = date(message.year, month, min(day, _month_length(message.year, month)))
    if ahead and found < message - timedelta(days=60):
        found = date(message.year + 1, month, day)
    if not ahead and found > message + timedelta(days=60):
        found = date(message.year - 1, month, day)
    return found.isoformat(), found.isoformat(), False


def _month_length(year: int, month: int) -> int:
    first = date(year, month, 1)
    return (_add_months(first, 1) - first).days


def _in_month(month: int, year: str | None, day: date, ahead: bool) -> _Reading:
    if year:
        return f"{year}-{month:02d}-01", "", False
    number = day.year
    if ahead and month < day.month:
        number += 1
    if not ahead and month > day.month:
        number -= 1
    return f"{number}-{month:02d}-01", _month_label(date(number, month, 1)), False


def _month(words: str) -> int:
    return next(number for number, name in enumerate(_MONTHS, 1) if name.startswith(words.lower()[:3]))


def _month_label(day: date) -> str:
    return f"{_MONTHS[day.month - 1].capitalize()} {day.year}"


def _weekday(number: int, day: date, ahead: bool) -> date:
    if ahead:
        return day + timedelta(days=(number - day.weekday() - 1) % 7 + 1)
    return day - timedelta(days=(day.weekday() - number - 1) % 7 + 1)


def _add_months(day: date, months: int) -> date:
    """Return the first day of the month that is this many months away."""
    index = day.year * 12 + day.month - 1 + months
    return date(index // 12, index % 12 + 1, 1)


_PERIODS = ("day", "week", "month", "year")
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
# How each kind of pattern is said in English, in the order in which they are looked for.
_ENGLISH = {
    "last_week": "",
    "ago": "{n} {u}s ago",
    "ahead": "in {n} {u}s",
    "day_month": "{d} {m} {y}",
    "in_month": "in {m} {y}",
    "last": "last {u}",
    "this": "this {u}",
    "next": "next {u}",
}


def in_english(text: str, today: date) -> str:
    """Return a text with the dates of its languages in English: "last tuesday", "2 weeks ago"."""
    for code in dated_languages(text):
        for kind, pattern in _patterns(code):
            text = pattern.sub(partial(_said, code, kind, today), text)
    return text


def _said(code: str, kind: str, today: date, found: re.Match[str]) -> str:
    if kind == "days":
        return _put(next(day for day, other in _days(code) if other.fullmatch(found[0])), code)
    names = _names(code)
    part = {name: names[name].get(plain(value.lower()), value) for name, value in found.groupdict(default="").items()}
    if kind == "last_week":
        monday = today - timedelta(days=today.weekday() + 7)
        return _put((monday + timedelta(days=_WEEKDAYS.index(part["u"]))).isoformat(), code)
    return _put(_ENGLISH[kind].format_map({"n": "a", "y": "", **part}).strip(), code)


def _put(words: str, code: str) -> str:
    """Return words with spaces around them, where the language writes none."""
    return f" {words} " if code in (JAPANESE, CHINESE) else words


@cache
def _names(code: str) -> Mapping[str, Mapping[str, str]]:
    """Return what stands for each part of a pattern: the English name by the one of the language, without accents."""
    data = rows(code)
    numbers, units, months = (
        {plain(name): english for english, names in data[row].items() for name in names}
        for row in ("numbers", "units", "months")
    )
    return {"n": numbers, "u": units, "m": months, "d": {}, "y": {}}


@cache
def _days(code: str) -> list[tuple[str, re.Pattern[str]]]:
    data = rows(code)
    days = [(day, name) for day, names in data["days"].items() for name in names]
    return [(day, re.compile(name, re.IGNORECASE)) for day, name in days]


@cache
def _patterns(code: str) -> list[tuple[str, re.Pattern[str]]]:
    """Return the patterns of a language with their kinds, in the order in which they are looked for."""
    data = rows(code)
    units = data["units"]
    some = {
        "n": rf"\d{{1,3}}|{_any(data['numbers'].values())}",
        "m": _any(data["months"].values()),
        "d": r"\d{1,2}",
        "y": r"\d{4}",
    }
    found = []
    for kind in _ENGLISH:
        names = _PERIODS if kind in ("ago", "ahead") else _WEEKDAYS if kind == "last_week" else units
        parts = {**some, "u": _any(units[name] for name in names)}
        for pattern in data.get(kind, ()):
            for name, names_of in parts.items():
                pattern = pattern.replace(f"{{{name}}}", f"(?P<{name}>{names_of})")
            found.append((kind, pattern))
    days = "|".join(sorted((day.pattern for _, day in _days(code)), key=len, reverse=True))
    return [(kind, _whole(pattern, code)) for kind, pattern in (*found, ("days", days))]


def _whole(pattern: str, code: str) -> re.Pattern[str]:
    joined = code in (JAPANESE, CHINESE)
    return re.compile(pattern if joined else rf"(?<!\w)(?:{pattern})(?!\w)", re.IGNORECASE)


def _any(groups: Iterable[Iterable[str]]) -> str:
    """Return a pattern for each of some names, the longest first, with or without accents."""
    names = {name for group in groups for name in group}
    return "|".join(sorted(map(re.escape, names | {plain(name) for name in names}), key=len, reverse=True))
