"""Validity: from when to when a fact is true.

The interval is half-open. A day that is given as the end is included, because people mean it so. Where a successor
takes over, the day on which it begins is not included.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, timedelta

from clawmem.model.facts.fact import RETRACTED, SUPERSEDED, Fact
from clawmem.model.language.dates import after_end, begin_instant, covers, day_of, end_of, sortable

# The key in a fact's metadata that names the announced fact which ends it on a day to come.
PENDING_SUCCESSION = "yields_to"
_GOAL = "goal"
PLANS = ("plan", _GOAL)


def validity(fact: Fact) -> tuple[str | None, str | None]:
    """Return the half-open interval in which a fact is true, as sortable times; None is open or unreadable."""
    return sortable(fact.valid_from), validity_end(fact)


def validity_end(fact: Fact) -> str | None:
    """Return the first instant at which a fact is no longer true, or None.

    A day as `valid_to` is included, but not if a successor begins on it. A plan for a later day ends with that day.
    """
    if fact.valid_to is None:
        return after_end(fact.valid_from) if fact.category in PLANS and _is_for_later(fact) else None
    if len(fact.valid_to) == 10 and (fact.status == SUPERSEDED or PENDING_SUCCESSION in (fact.metadata or {})):
        end = sortable(fact.valid_to)
        return begin_instant(end) if end else None
    return after_end(fact.valid_to)


def is_over(fact: Fact, moment: str) -> bool:
    """Return whether the fact's validity has ended at a moment (ISO 8601 UTC; a bare day means its last instant).

    A fact that is over is cold whatever its importance, and ranks behind valid ones.
    """
    end = validity_end(fact)
    return end is not None and end <= end_of(moment)


def _is_for_later(plan: Fact) -> bool:
    """Return whether a plan was for a day after the one on which it was said, or recorded if that is unknown.

    A plan that was learned from words such as "this evening" was for that same day.
    """
    text = (plan.metadata or {}).get("said_at")
    stated = text if isinstance(text, str) and text else plan.timestamp
    begin = sortable(plan.valid_from)
    if begin is None:
        return False
    of_that_day = plan.source_event and text and plan.category != _GOAL and day_of(stated) == day_of(begin)
    return bool(of_that_day) or day_of(stated) < day_of(begin)


def ended_at(old: Fact, since: str) -> str:
    """Return `valid_to` of a fact whose successor is true from `since`. An earlier end stays, to the second."""
    own = validity_end(old) if old.valid_to else None
    begins = begin_instant(sortable(since) or since)
    end = since if own is None or own >= begins else own.replace("T24:00:00Z", "T23:59:59Z")
    begun = sortable(old.valid_from)
    if old.valid_from is not None and begun is not None and begin_instant(sortable(end) or end) < begin_instant(begun):
        return old.valid_from
    return end


def true_at(fact: Fact, moment: str) -> bool:
    """Return whether the fact was true at a moment, as known now; a bare day means its last instant."""
    return fact.status != RETRACTED and covers(*validity(fact), moment)


def last_moment_within(fact: Fact, first: str, last: str) -> str | None:
    """Return the last day of a period at whose end a fact is valid.

    If it began and ended within one day, return the first instant at which it was valid. Return None if it was not
    valid in the period. Days are `YYYY-MM-DD`, and the period includes both `first` and `last`.
    """
    begin, end = validity(fact)
    begin = begin or first
    day = last
    if end is not None and end <= end_of(last):
        whole = end > end_of(day_of(end))
        day = (date.fromisoformat(day_of(end)) - timedelta(days=0 if whole else 1)).isoformat()
    if day >= max(first, day_of(begin)):
        return day
    instant = begin_instant(max(begin, first))
    return instant if instant <= end_of(last) and covers(begin, end, instant) else None


def untrue_reason(fact: Fact, moment: str) -> str | None:
    """Return why the fact was not true at a moment, as a clause, or None if it was true."""
    if fact.status == RETRACTED:
        return "it was retracted, so it was never true"
    begin = sortable(fact.valid_from)
    if begin and begin > end_of(moment):
        return f"it is valid only from {begin}"
    return None if true_at(fact, moment) else f"it was valid only until {shown_end(fact)}"


def shown_end(fact: Fact) -> str | None:
    """Return the end of a fact's validity as people read it: the day of a past plan if it has no end of its own."""
    return sortable(fact.valid_to or fact.valid_from, end=True)


def last_true(chain: Iterable[Fact], moment: str) -> Fact | None:
    """Return the last fact of a chain (oldest first) that was true at a moment, or None."""
    return next((fact for fact in reversed(list(chain)) if true_at(fact, moment)), None)
