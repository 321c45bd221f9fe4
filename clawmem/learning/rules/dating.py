"""The dates of a statement: the start of validity, full dates for relative ones, and a text without its dates."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date

from clawmem.model.facts.catalog import Catalog
from clawmem.model.language.date_words import DateMatch, find_dates
from clawmem.model.proposals.proposition import Proposition
from clawmem.model.records.event import Event

# What is said of a coming day is so now; only a state of these kinds begins on it.
_STATES = frozenset("status milestone identity relationship preference habit health".split())


def said_day(event: Event) -> date:
    """Return the day an event was said, or 1970-01-01 if its timestamp is invalid."""
    try:
        return date.fromisoformat(event.timestamp[:10])
    except ValueError:
        return date(1970, 1, 1)


def start_day(dates: Iterable[DateMatch], category: str, day: date, holds: bool = False) -> str | None:
    """Return the day from which a statement is true, or None.

    These dates are ignored: an end date, a date that only names a thing, and the future date of a plan, decision or
    event. If `holds` is true, a future date counts only if it is named as the start.
    """
    for found in dates:
        if not found.day or found.until or found.names:
            continue
        if found.day <= day.isoformat() or (category in _STATES and (found.since or not holds)):
            return found.day
    return None


def without_value_as_start(proposition: Proposition, catalog: Catalog) -> Proposition:
    """Return the proposition without a start day if its date is the value itself, such as a deadline."""
    entry = catalog.predicates.get(proposition.predicate or "")
    dated = entry is not None and entry.value == "date" and not (proposition.ended or proposition.former)
    return proposition._replace(valid_from=None) if dated else proposition


def without_any_date(text: str, day: date) -> str:
    """Return the text without its dates. `said` is the day it was said."""
    for found in reversed(find_dates(text, day)):
        text = f"{text[: found.start].rstrip(' ,')} {text[found.end :].lstrip(' ,')}"
    return text


def names_day(text: str, day: date) -> bool:
    """Return whether a text names a day of its own, which means the same on any day it is said."""
    return any(found.day and not found.relative for found in find_dates(text, day)) or text[:4].isdigit()


def full_date(text: str, day: date) -> str:
    """Return a coming date as it is understood on any day: "Friday" as the day itself, "3 May" with its year."""
    for found in reversed(find_dates(text, day, ahead=True)):
        if found.relative and found.label:
            text = f"{text[: found.start]} {found.label} {text[found.end :]}".strip()
        elif (
            found.label[:4].isdigit()
            and found.label > day.isoformat()
            and not any(word.isdigit() and len(word) == 4 for word in text.split())
        ):
            text = f"{text[: found.end]} {found.label[:4]}{text[found.end :]}"
    return " ".join(text.split())
