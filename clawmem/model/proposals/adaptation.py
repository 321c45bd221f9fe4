"""Adapt the strictness of promotion to what later happened to promoted facts. Pure, bounded and monotone."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any, NamedTuple

from clawmem.model.facts.fact import RETRACTED, SUPERSEDED, Fact
from clawmem.model.language.dates import day_of
from clawmem.model.proposals.promotion import promotion_of

# Outcomes of half a year count. The prior is ten neutral outcomes, so that the first few real ones do not decide.
WINDOW_DAYS = 180
PRIOR = 10
WORTH_DAYS = 30

SCORE_SWING = 0.15
SCORE_BOUNDS = (0.3, 0.9)
# The confidence of rules is at least 0.7: a smaller swing would never affect them.
CONFIDENCE_SWING = 0.3
CONFIDENCE_BOUNDS = (0.3, 0.8)


class PromotionOutcomes(NamedTuple):
    """Counts of promoted facts: recalled since, superseded within 30 days, retracted, rejected in review, or idle.

    An idle fact was not recalled for 30 days.
    """

    recalled: int = 0
    superseded: int = 0
    retracted: int = 0
    rejected: int = 0
    idle: int = 0


class Adaptation(NamedTuple):
    """How many facts may be promoted in a day, the score they need, and the confidence that the gate requires."""

    max_facts: int
    score: float
    gate_confidence: float


def adapt_limits(base: Adaptation, seen: PromotionOutcomes) -> Adaptation:
    """Return stricter values the more went wrong, and more generous ones the more facts were recalled.

    The score moves by at most 0.15 either way, and the gate's confidence by at most 0.3 up. The number of facts is
    between a quarter of the base and the base. Each value stays within its bounds.
    """
    pressure = _tenths((seen.superseded + seen.retracted + seen.rejected + seen.idle / 2 - seen.recalled), seen)
    wrong = _tenths(seen.retracted + seen.rejected, seen)
    least = min(base.max_facts, max(1, base.max_facts // 4))
    return Adaptation(
        max(least, min(base.max_facts, round(base.max_facts * (1 - max(0.0, pressure))))),
        _within(base.score + SCORE_SWING * pressure, base.score, SCORE_BOUNDS),
        _within(base.gate_confidence + CONFIDENCE_SWING * wrong, base.gate_confidence, CONFIDENCE_BOUNDS),
    )


def count_outcomes(facts: Iterable[Fact], on: str, rejected: int = 0) -> PromotionOutcomes:
    """Count the outcomes of facts promoted in the half year before the day `on`; undecided ones do not count."""
    known = list(facts)
    ends = _ends(known)
    counts = dict.fromkeys(PromotionOutcomes._fields, 0)
    for fact in known:
        what = _outcome(fact, on, ends)
        if what:
            counts[what] += 1
    return PromotionOutcomes(**{**counts, "rejected": rejected})


def describe_adaptation(before: Adaptation, after: Adaptation, seen: PromotionOutcomes) -> str:
    """Return what changed and why, for the commit message."""
    moves = [
        f"{name.replace('_', ' ')} {old:g} to {new:g}"
        for name, old, new in zip(Adaptation._fields, before, after, strict=True)
        if old != new
    ]
    counts = [f"{count} {what}" for what, count in zip(PromotionOutcomes._fields, seen, strict=True) if count]
    what = "promoted or proposed" if seen.rejected else "promoted"
    return f"{', '.join(moves)}: of what was {what}, {', '.join(counts) or 'nothing has an outcome yet'}"


def outcomes_from_record(record: Mapping[str, Any]) -> PromotionOutcomes:
    """Read the counts from the store; raise ValueError unless all are whole numbers, 0 or more."""
    counts = [record.get(name, 0) for name in PromotionOutcomes._fields]
    if not all(isinstance(count, int) and not isinstance(count, bool) and count >= 0 for count in counts):
        raise ValueError("a count is not a whole number")
    return PromotionOutcomes(*counts)


def render_adaptation(record: Mapping[str, Any]) -> bytes:
    """The file of promotion outcomes as JSON, one value a line."""
    return (json.dumps(record, indent=1) + "\n").encode()


def _tenths(amount: float, seen: PromotionOutcomes) -> float:
    """Return the share from -1 to 1 in tenths, rounded towards zero, so that one more fact rarely changes anything."""
    return int(10 * amount / (sum(seen) + PRIOR)) / 10


def _within(value: float, base: float, bounds: tuple[float, float]) -> float:
    low, high = min(bounds[0], base), max(bounds[1], base)
    return round(max(low, min(high, value)), 3)


def _ends(facts: Iterable[Fact]) -> dict[str, str]:
    """Return the day on which each superseded fact was replaced, by id."""
    return {link.to: day_of(link.at) for fact in facts for link in fact.links if link.type == "supersedes" and link.at}


def _outcome(fact: Fact, on: str, ends: Mapping[str, str]) -> str | None:
    mark = promotion_of(fact)
    since = day_of(mark["on"]) if mark else ""
    age = _days(since, on)
    if age is None or not 0 <= age <= WINDOW_DAYS:
        return None
    if fact.status == RETRACTED:
        return "retracted"
    if fact.status == SUPERSEDED:
        lasted = _days(since, ends.get(fact.id, ""))
        return "superseded" if lasted is not None and lasted < WORTH_DAYS else None
    if fact.last_accessed and day_of(fact.last_accessed) > since:
        return "recalled"
    return "idle" if age > WORTH_DAYS else None


def _days(earlier: str, later: str) -> int | None:
    try:
        return (date.fromisoformat(later) - date.fromisoformat(earlier)).days
    except ValueError:
        return None
