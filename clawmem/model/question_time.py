"""The days that a question names: dates, months and years as people write them, and days told from today."""

from __future__ import annotations

import re
from datetime import date, timedelta

from clawmem.model.question import Span

_MONTHS = "january february march april may june july august september october november december".split()
_MONTH = "|".join(f"{name}|{name[:3]}" for name in _MONTHS) + "|sept"
_ISO = re.compile(r"\b(\d{4})-(\d{2})(?:-(\d{2}))?\b")
_DAY_MONTH = re.compile(rf"\b(\d{{1,2}})(?:st|nd|rd|th)?(?: of)? ({_MONTH})\.?,? (\d{{4}})\b", re.IGNORECASE)
_MONTH_DAY = re.compile(rf"\b({_MONTH})\.? (\d{{1,2}})(?:st|nd|rd|th)?,? (\d{{4}})\b", re.IGNORECASE)
_MONTH_YEAR = re.compile(rf"\b({_MONTH})\.?,? (\d{{4}})\b", re.IGNORECASE)
_YEAR = re.compile(r"\b(?:in|during|of|since|by) (\d{4})\b", re.IGNORECASE)
_BARE_MONTH = re.compile(rf"\b(?:in|during|last|this) ({'|'.join(_MONTHS)})\b", re.IGNORECASE)
_RELATIVE = re.compile(r"\b(yesterday|today|(?:this|last) (?:week|month|year))\b", re.IGNORECASE)
_AGO = re.compile(r"\b(\d+|a|an|one|two|three|four|five|six) (day|week|month|year)s? ago\b", re.IGNORECASE)
_COUNTS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6}


def days_named(question: str, today: date) -> Span | None:
    """The first time a question names, absolute ones before relative ones; None where it names no day there is."""
    try:
        return _absolute(question) or _relative(question, today) or _bare_month(question, today)
    except (ValueError, OverflowError):
        return None


def _absolute(question: str) -> Span | None:
    if found := _ISO.search(question):
        year, month, day = int(found[1]), int(found[2]), found[3]
        return _days(date(year, month, int(day))) if day else _month(year, month)
    if found := _DAY_MONTH.search(question):
        return _days(date(int(found[3]), _number(found[2]), int(found[1])))
    if found := _MONTH_DAY.search(question):
        return _days(date(int(found[3]), _number(found[1]), int(found[2])))
    if found := _MONTH_YEAR.search(question):
        return _month(int(found[2]), _number(found[1]))
    if found := _YEAR.search(question):
        return Span(f"{int(found[1]):04d}-01-01", f"{int(found[1]):04d}-12-31")
    return None


def _relative(question: str, today: date) -> Span | None:
    if found := _RELATIVE.search(question):
        return _named_stretch(found[1].lower(), today)
    if found := _AGO.search(question):
        count = _COUNTS.get(found[1].lower()) or int(found[1])
        size = {"day": 1, "week": 7, "month": 30, "year": 365}[found[2].lower()]
        middle, slack = today - timedelta(days=count * size), timedelta(days=size // 2)
        return _days(middle - slack, middle + slack)
    return None


def _named_stretch(words: str, today: date) -> Span:
    if words in ("today", "yesterday"):
        return _days(today - timedelta(days=words == "yesterday"))
    which, unit = words.split()
    back = which == "last"
    if unit == "week":
        monday = today - timedelta(days=today.weekday() + 7 * back)
        return _days(monday, monday + timedelta(days=6))
    if unit == "year":
        return Span(f"{today.year - back}-01-01", f"{today.year - back}-12-31")
    months = today.year * 12 + today.month - 1 - back
    return _month(months // 12, months % 12 + 1)


def _bare_month(question: str, today: date) -> Span | None:
    found = _BARE_MONTH.search(question)
    if not found:
        return None
    month = _number(found[1])
    return _month(today.year - (month > today.month), month)


def _number(name: str) -> int:
    return next(number for number, month in enumerate(_MONTHS, 1) if month.startswith(name.lower()[:3]))


def _month(year: int, month: int) -> Span:
    first = date(year, month, 1)
    following = date(year + month // 12, month % 12 + 1, 1)
    return _days(first, following - timedelta(days=1))


def _days(first: date, last: date | None = None) -> Span:
    return Span(first.isoformat(), (last or first).isoformat())
