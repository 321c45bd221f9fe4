"""When facts are true: from where they begin to where a successor begins, never before they began themselves."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date, timedelta

from clawmem.model.facts.fact import RETRACTED, Fact
from clawmem.model.language.dates import covers, day_of, end_of, sortable


def ended_at(old: Fact, since: str) -> str:
    """The end of a fact's validity once something else is true from `since` on."""
    end = since if old.valid_to is None or old.valid_to > since else old.valid_to
    if old.valid_from is not None and end < old.valid_from:
        return old.valid_from
    return end


def true_at(fact: Fact, moment: str) -> bool:
    """Whether the fact was true at a moment, as it is known now; a bare day asks about its last instant."""
    return fact.status != RETRACTED and covers(fact.valid_from, fact.valid_to, moment)


def last_moment_within(valid_from: str | None, valid_to: str | None, first: str, last: str) -> str | None:
    """The last day out of some at whose end [valid_from, valid_to) holds, else the first instant of those days at which
    it does, for what began and ended within one; None where it holds at none. Days are `YYYY-MM-DD`, both included."""
    begin, end = sortable(valid_from) or first, sortable(valid_to, end=True)
    day = last
    if end is not None and end <= end_of(last):
        day = (date.fromisoformat(day_of(end)) - timedelta(days=1)).isoformat()
    if day >= max(first, day_of(begin)):
        return day
    instant = max(begin, first)
    instant = instant if len(instant) > 10 else f"{instant}T00:00:00Z"
    return instant if instant <= end_of(last) and covers(valid_from, valid_to, instant) else None


def why_untrue(fact: Fact, moment: str) -> str | None:
    """Why the fact was not true at a moment, as a clause; None where it was."""
    if fact.status == RETRACTED:
        return "it was withdrawn, so it never was"
    begin = sortable(fact.valid_from)
    if begin and begin > end_of(moment):
        return f"it holds only from {begin}"
    return None if true_at(fact, moment) else f"it held only until {sortable(fact.valid_to, end=True)}"


def true_instead(chain: Iterable[Fact], moment: str) -> Fact | None:
    """The last fact of a chain, given oldest first, that was true at a moment."""
    return next((fact for fact in reversed(list(chain)) if true_at(fact, moment)), None)
