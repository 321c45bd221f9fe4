"""Dates in other languages, put into the English words that `date_words` reads. Their patterns are data."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import date, timedelta
from functools import cache, partial

from clawmem.model.language.languages import CHINESE, JAPANESE, dated_languages, rows
from clawmem.model.language.text import plain

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
