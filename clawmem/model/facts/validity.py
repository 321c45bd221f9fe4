"""Validity: a fact is true from its begin to the begin of its successor, and never ends before it begins."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, timedelta

from clawmem.model.facts.fact import RETRACTED, Fact
from clawmem.model.language.dates import covers, day_of, end_of, sortable


def ended_at(old: Fact, since: str) -> str:
    """Return the end of a fact's validity when something else is true from `since`."""
    end = since if old.valid_to is None or old.valid_to > since else old.valid_to
    if old.valid_from is not None and end < old.valid_from:
        return old.valid_from
    return end


def true_at(fact: Fact, moment: str) -> bool:
    """Return whether the fact was true at a moment, as known now; a bare day means its last instant."""
    return fact.status != RETRACTED and covers(fact.valid_from, fact.valid_to, moment)


def last_moment_within(valid_from: str | None, valid_to: str | None, first: str, last: str) -> str | None:
    """Return the last day of a period at whose end [valid_from, valid_to) is valid.

    If it began and ended within one day, return the first instant at which it was valid. Return None if it was not
    valid in the period. Days are `YYYY-MM-DD`, and the period includes both `first` and `last`.
    """
    begin, end = sortable(valid_from) or first, sortable(valid_to, end=True)
    day = last
    if end is not None and end <= end_of(last):
        day = (date.fromisoformat(day_of(end)) - timedelta(days=1)).isoformat()
    if day >= max(first, day_of(begin)):
        return day
    instant = max(begin, first)
    instant = instant if len(instant) > 10 else f"{instant}T00:00:00Z"
    return instant if instant <= end_of(last) and covers(valid_from, valid_to, instant) else None


def untrue_reason(fact: Fact, moment: str) -> str | None:
    """Return why the fact was not true at a moment, as a clause, or None if it was true."""
    if fact.status == RETRACTED:
        return "it was retracted, so it was never true"
    begin = sortable(fact.valid_from)
    if begin and begin > end_of(moment):
        return f"it is valid only from {begin}"
    return None if true_at(fact, moment) else f"it was valid only until {sortable(fact.valid_to, end=True)}"


def last_true(chain: Iterable[Fact], moment: str) -> Fact | None:
    """Return the last fact of a chain (oldest first) that was true at a moment, or None."""
    return next((fact for fact in reversed(list(chain)) if true_at(fact, moment)), None)
