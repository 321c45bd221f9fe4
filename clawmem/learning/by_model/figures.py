"""The numbers, clock times and days in a text, in one form for digits and words (English and German)."""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Iterator
from datetime import date
from functools import cache
from typing import NamedTuple

from clawmem.model.language.date_words import DateMatch, find_dates

_UNITS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_ORDINALS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
    "fifteenth sixteenth seventeenth eighteenth nineteenth"
).split()
_ENGLISH = {
    **{word: number for number, word in enumerate(_UNITS)},
    **{word: number for number, word in enumerate(_ORDINALS, 1)},
    **{word: 20 + 10 * number for number, word in enumerate(_TENS)},
    **{f"{word[:-1]}ieth": 20 + 10 * number for number, word in enumerate(_TENS)},
}
_SCALES = {"hundred": 100, "thousand": 1000, "million": 1_000_000}
_GERMAN_UNITS = (
    "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn "
    "siebzehn achtzehn neunzehn"
).split()
_GERMAN_TENS = "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig".split()
_GERMAN_ORDINALS = {1: "erst", 3: "dritt", 7: "siebt", 8: "acht"}
_MONTHS = {
    name: number
    for names in (
        "january february march april may june july august september october november december",
        "januar februar märz april mai juni juli august september oktober november dezember",
        "jan feb mar apr may jun jul aug sep oct nov dec",
        "jan feb mrz apr mai jun jul aug sept okt nov dez",
    )
    for number, name in enumerate(names.split(), 1)
}
WEEKDAYS = {
    name: number
    for names in (
        "monday tuesday wednesday thursday friday saturday sunday",
        "montag dienstag mittwoch donnerstag freitag samstag sonntag",
        "mon tue wed thu fri sat sun",
        "mo di mi do fr sa so",
    )
    for number, name in enumerate(names.split())
} | {"sonnabend": 5, "tues": 1, "thurs": 3, "weds": 2}
_NEAR = {
    "today": 0, "tonight": 0, "tomorrow": 1, "yesterday": -1,
    "heute": 0, "morgen": 1, "übermorgen": 2, "gestern": -1, "vorgestern": -2,
}  # fmt: skip
_MONTH = "|".join(sorted(_MONTHS, key=len, reverse=True))
_DAY = re.compile(
    r"\b(?:(?P<iy>\d{4})-(?P<im>\d\d)(?:-(?P<id>\d\d))?"
    r"|(?<!\d[./])(?P<nd>\d{1,2})[./](?P<nm>\d{1,2})[./](?P<ny>\d{4}|\d\d)?(?!\d)"
    rf"|(?P<dd>\d{{1,2}})(?:st|nd|rd|th|\.)?(?: of)? (?P<dm>{_MONTH})\b\.?(?:,? (?P<dy>\d{{4}}))?"
    rf"|(?P<mm>{_MONTH})\b\.? (?P<md>\d{{1,2}})(?:st|nd|rd|th)?\b(?!:)(?:,? (?P<my>\d{{4}}))?"
    rf"|(?P<om>{_MONTH})\b\.?,? (?P<oy>\d{{4}}))",
    re.IGNORECASE,
)
_TIME = re.compile(
    r"(?<![\d.:,])(?P<h>\d{1,2})(?:[:.h](?P<m>\d\d)(?!\d|\.\d))?"
    r"(?:\s*(?P<half>[ap])\.?m\b\.?|\s*(?P<uhr>uhr|o['’]clock)\b(?:\s*(?P<um>\d{1,2})\b)?|(?=[^\w]|$))",
    re.IGNORECASE,
)
_HOUR = "|".join((*_UNITS[1:13], *_GERMAN_UNITS[1:13], "ein"))
_MINUTES = {"five": 5, "ten": 10, "twenty": 20, "fünf": 5, "zehn": 10, "zwanzig": 20}
_SHIFTS = {
    "half past": 30, "half": 30, "halb": -30, "quarter past": 15, "viertel nach": 15, "quarter to": -15,
    "viertel vor": -15, **{f"{word} {way}": minutes for word, minutes in _MINUTES.items() for way in ("past", "nach")},
    **{f"{word} {way}": -minutes for word, minutes in _MINUTES.items() for way in ("to", "vor")},
}  # fmt: skip
_SPOKEN = re.compile(
    rf"\b(?:(?P<how>{'|'.join(_SHIFTS)}|(?:at|by|um|gegen|bis|ab)(?! \w+ (?:past|to|nach|vor)\b)) )?"
    rf"(?P<hour>{_HOUR}|\d{{1,2}})\b(?P<pm> ?(?:p\.?m|a\.?m|uhr|o['’]clock)?)",
    re.IGNORECASE,
)
_NOON = {"noon": "12:00", "midday": "12:00", "mittag": "12:00", "mittags": "12:00"} | dict.fromkeys(
    ("midnight", "mitternacht"), "00:00"
)
_AWAY = re.compile(r"\b(?P<way>in|vor) (?P<count>\w+) (?P<unit>tage?n?|wochen?|monate?n?|jahre?n?)\b", re.IGNORECASE)
_UNIT_DAYS = {"t": 1, "w": 7}
_PARTS = re.compile(r"\b(?P<part>end|ende|mid|mitte|start|beginning|anfang)(?: of)? (?P<month>\w+)", re.IGNORECASE)
_PARTS_OF_HOUR = {
    "30": re.compile(r"\b(?:half an hour|half-hour|halben? stunde|media hora|demi-heure)\b", re.IGNORECASE),
    "15": re.compile(r"\b(?:quarter of an hour|quarter-hour|viertelstunde|cuarto de hora|quart d['’]heure)\b", re.I),
}
_NUMBER = re.compile(r"\d[\d.,'’]*")
_WORD = re.compile(r"[^\W\d_]+")
_NEXT = re.compile(r"\b(?:next|last|this|coming|nächste[nrsm]?|letzte[nrsm]?|diese[nrsm]?|kommende[nrsm]?)\b", re.I)
_WITHIN_DAYS = 21
_WITHIN_MONTH = 31
_NUMBERED = re.compile(
    r"\b(?:(\d{1,2})(?:st|nd|rd|th|er)|(?:am|den|dem|zum|bis|vom|el|al|le|au|du|il|día) (\d{1,2})\.?)(?![\d:.]\d|\w)",
    re.IGNORECASE,
)


class Day(NamedTuple):
    """A day or, without `day`, a month that a text names; `year` is None if it names none."""

    start: int
    end: int
    year: int | None
    month: int
    day: int | None


def numbers_in(text: str) -> frozenset[str]:
    """Return the numbers of a text as plain digits, whether written in digits or in words."""
    found = {_plain(match[0]) for match in _NUMBER.finditer(text)}
    found |= {part for match in _NUMBER.finditer(text) for part in re.split(r"\D+", match[0]) if part}
    words = [match[0].casefold() for match in _WORD.finditer(text)]
    found |= {str(number) for number in _english_numbers(words)}
    german = _german_numbers()
    found |= {str(german[word]) for word in words if word in german}
    found |= {minutes for minutes, part in _PARTS_OF_HOUR.items() if part.search(text)}
    return frozenset(found - {""})


def times_in(text: str) -> frozenset[str]:
    """Return the clock times of a text as HH:MM. A time without am or pm counts in both halves of the day."""
    found = {_NOON[word] for word in _words(text) if word in _NOON}
    for match in _TIME.finditer(text):
        if match["m"] or match["half"] or match["uhr"]:
            found |= _both_halves(int(match["h"]), int(match["m"] or match["um"] or 0), match["half"])
    german = _german_numbers()
    for match in _SPOKEN.finditer(text):
        if not match["how"] and not match["pm"].strip():
            continue
        word = match["hour"].lower()
        hour = int(word) if word.isdigit() else _ENGLISH.get(word, german.get(word, 1))
        minutes = hour * 60 + _SHIFTS.get((match["how"] or "").lower(), 0)
        if 0 <= minutes < 24 * 60:
            found |= _both_halves(minutes // 60, minutes % 60, None)
    return frozenset(found)


def time_spans(text: str) -> Iterator[tuple[int, int, frozenset[str]]]:
    """Yield where a text has clock times in digits, each with the times that it can mean."""
    for match in _TIME.finditer(text):
        if match["m"] or match["half"] or match["uhr"]:
            minutes = int(match["m"] or match["um"] or 0)
            yield match.start(), match.end(), frozenset(_both_halves(int(match["h"]), minutes, match["half"]))


def days_in(text: str) -> Iterator[Day]:
    """Yield the days and months that a text names in digits or by the names of months."""
    for match in _DAY.finditer(text):
        year = match["iy"] or match["ny"] or match["dy"] or match["my"] or match["oy"]
        month = match["im"] or match["nm"] or match["dm"] or match["mm"] or match["om"]
        day = match["id"] or match["nd"] or match["dd"] or match["md"]
        number = int(month) if month.isdigit() else _MONTHS[month.lower()]
        if 1 <= number <= 12 and (day is None or 1 <= int(day) <= 31):
            full = (2000 + int(year) if len(year) == 2 else int(year)) if year else None
            yield Day(match.start(), match.end(), full, number, int(day) if day else None)


def names_day(text: str, wanted: Day, message: date) -> bool:
    """Return whether a text that was said on a day names the wanted day or month, in figures or in words."""
    return any(_agrees(wanted, day, message) for day in days_in(text)) or _by_words(text, wanted, message)


def _agrees(wanted: Day, named: Day, day: date) -> bool:
    if wanted.month != named.month or (wanted.day and named.day and wanted.day != named.day):
        return (named.day, named.month) == (wanted.month, wanted.day)  # day and month in the other order
    if wanted.day and not named.day:
        return False
    return wanted.year is None or abs(wanted.year - (named.year or day.year)) <= (0 if named.year else 1)


def _by_words(text: str, wanted: Day, message: date) -> bool:
    year = wanted.year or message.year
    words = _words(text)
    months = {_MONTHS[word] for word in words if word in _MONTHS}
    if wanted.day is None:
        near = abs((year - message.year) * 12 + wanted.month - message.month) <= 1 and _NEXT.search(text)
        return (
            wanted.month in months
            or bool(near)
            or wanted.month in {other_day.month for other_day in _read(text, message)}
        )
    if wanted.month in months and str(wanted.day) in numbers_in(text):
        return True
    try:
        day = date(year, wanted.month, wanted.day)
    except ValueError:
        return False
    away = (day - message).days
    return (
        away == 0  # what is said of no other day is of that of the message
        or day in _read(text, message)
        or (any(WEEKDAYS.get(word) == day.weekday() for word in words if len(word) > 2) and abs(away) <= _WITHIN_DAYS)
        or any(_NEAR.get(word) == away for word in words)
        or any(_part(match, day) for match in _PARTS.finditer(text))
        or any(_away(match, away) for match in _AWAY.finditer(text))
        or (
            abs(away) <= _WITHIN_MONTH
            and any(str(wanted.day) in match.groups() for match in _NUMBERED.finditer(text))
            and wanted.day not in {other_day.day for other_day in _read(text, message)}
        )
    )  # fmt: skip


def _read(text: str, day: date) -> set[date]:
    found = (*find_dates(text, day), *find_dates(text, day, ahead=True))
    return {date.fromisoformat(match.day) for match in found if match.day and len(match.day) == 10}


def _part(match: re.Match[str], day: date) -> bool:
    if _MONTHS.get(match["month"].lower()) != day.month:
        return False
    last = monthrange(day.year, day.month)[1]
    return day.day == {"e": last, "m": 15, "s": 1, "b": 1, "a": 1}[match["part"][0].lower()]


def _away(match: re.Match[str], days: int) -> bool:
    counts = numbers_in(match["count"]) or ({"1"} if match["count"].lower().startswith("ein") else set())
    sign = 1 if match["way"].lower() == "in" else -1
    unit = match["unit"][0].lower()
    size, slack = _UNIT_DAYS.get(unit, 30 if unit == "m" else 365), (0 if unit in _UNIT_DAYS else 16)
    return any(count.isdigit() and abs(sign * int(count) * size - days) <= slack for count in counts)


def _both_halves(hour: int, minutes: int, half: str | None) -> set[str]:
    if hour > 24 or minutes > 59 or (half and hour > 12):
        return set()
    if half:
        return {f"{hour % 12 + (12 if half.lower() == 'p' else 0):02}:{minutes:02}"}
    return {f"{number % 24:02}:{minutes:02}" for number in (hour, hour + 12) if number == hour or hour <= 12}


def _plain(number: str) -> str:
    """Return a number without separators of thousands, and without a fraction of zeros."""
    bare = number.strip(".,'’")
    bare = re.sub(r"(?<=\d)[.,'’](?=\d{3}(?!\d))", "", bare).replace(",", ".")
    return (re.sub(r"\.0+$", "", bare)).lstrip("0") or ("0" if bare else "")


def _words(text: str) -> list[str]:
    return [match[0].casefold() for match in _WORD.finditer(text)]


def _english_numbers(words: list[str]) -> Iterator[int]:
    """Yield the values of runs of number words, and of each word alone."""
    total = current = 0
    running = False
    for word in [*words, ""]:
        if word in _ENGLISH:
            yield _ENGLISH[word]
            current += _ENGLISH[word]
            running = True
            yield total + current
        elif word in _SCALES:
            current = max(1, current) * _SCALES[word]
            if word != "hundred":
                total, current = total + current, 0
            running = True
            yield total + current
        elif not (word == "and" and running):
            total, current, running = 0, 0, False


@cache
def _german_numbers() -> dict[str, int]:
    """Return the German words for 0 to 999, and the ordinals up to 31 in their inflected forms."""
    words = {0: "null", **{number: _german(number) for number in range(1, 1000)}}
    found = {word.casefold(): number for number, word in words.items()}
    for number in range(1, 32):
        stem = _GERMAN_ORDINALS.get(number) or words[number] + ("t" if number < 20 else "st")
        found.update({f"{stem}e{end}".casefold(): number for end in ("", "n", "r", "s", "m")})
    return found | {"einhundert": 100, "tausend": 1000, "eintausend": 1000}


def _german(number: int) -> str:
    hundreds, rest = divmod(number, 100)
    lead = "" if not hundreds else ("" if hundreds == 1 else _GERMAN_UNITS[hundreds]) + "hundert"
    if not rest:
        return lead
    if rest < 20:
        return lead + _GERMAN_UNITS[rest]
    tens, unit = divmod(rest, 10)
    joined = "" if not unit else ("ein" if unit == 1 else _GERMAN_UNITS[unit]) + "und"
    return f"{lead}{joined}{_GERMAN_TENS[tens - 2]}"


def is_bare_weekday(text: str, found: DateMatch) -> bool:
    """Return whether a date of a text is a weekday alone, which may come again every week, and not since when."""
    words = _words(text[found.start : found.end])
    return not found.since and bool(words) and all(word in WEEKDAYS or word in ("on", "am") for word in words)


def day_of_when(text: str | None, last: bool = False) -> date | None:
    """Return the day of YYYY-MM-DD, YYYY-MM or YYYY: its first day, or with `last` its last one. None if invalid."""
    parts = (text or "").strip().split("T")[0].split("-")
    try:
        year, month, day = (*map(int, parts), 0, 0)[:3]
        if not last:
            return date(year, month or 1, day or 1)
        return date(year, month or 12, day or monthrange(year, month or 12)[1])
    except (ValueError, TypeError, IndexError):
        return None
