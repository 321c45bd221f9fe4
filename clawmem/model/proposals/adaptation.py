"""Adaptation: how strict promotion is, from what later happened to what it promoted. Pure, bounded, monotone."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any, NamedTuple

from clawmem.model.facts.fact import RETRACTED, SUPERSEDED, Fact
from clawmem.model.language.dates import day_of
from clawmem.model.proposals.promotion import promotion_of

# Outcomes of half a year count, and an opinion of ten that never happened keeps the first few from deciding.
WINDOW_DAYS = 180
PRIOR = 10
WORTH_DAYS = 30

SCORE_SWING = 0.15
SCORE_BOUNDS = (0.3, 0.9)
# Rules are 0.7 sure or more of what they find: a smaller swing would never reach them.
CONFIDENCE_SWING = 0.3
CONFIDENCE_BOUNDS = (0.3, 0.8)


class PromotionOutcomes(NamedTuple):
    """What happened to promoted facts: used since, replaced within thirty days, withdrawn, turned down in review,
    or not used in thirty days."""

    recalled: int = 0
    superseded: int = 0
    retracted: int = 0
    rejected: int = 0
    idle: int = 0


class Adaptation(NamedTuple):
    """How many facts a day may be promoted, the score it takes, and the confidence the gate asks for."""

    max_facts: int
    score: float
    gate_confidence: float


def adapted(base: Adaptation, seen: PromotionOutcomes) -> Adaptation:
    """The values for what was seen: stricter the more went wrong, more generous the more was used.

    The score moves at most 0.15 either way, the gate's confidence at most 0.3 up, the number of facts between a
    quarter of the base and the base; each stays within its bounds.
    """
    pressure = _tenths((seen.superseded + seen.retracted + seen.rejected + seen.idle / 2 - seen.recalled), seen)
    wrong = _tenths(seen.retracted + seen.rejected, seen)
    least = min(base.max_facts, max(1, base.max_facts // 4))
    return Adaptation(
        max(least, min(base.max_facts, round(base.max_facts * (1 - max(0.0, pressure))))),
        _within(base.score + SCORE_SWING * pressure, base.score, SCORE_BOUNDS),
        _within(base.gate_confidence + CONFIDENCE_SWING * wrong, base.gate_confidence, CONFIDENCE_BOUNDS),
    )


def outcomes(facts: Iterable[Fact], on: str, rejected: int = 0) -> PromotionOutcomes:
    """Count what became of the facts promoted in the half year before the day `on`; the undecided are not counted."""
    known = list(facts)
    ends = _ends(known)
    counts = dict.fromkeys(PromotionOutcomes._fields, 0)
    for fact in known:
        what = _outcome(fact, on, ends)
        if what:
            counts[what] += 1
    return PromotionOutcomes(**{**counts, "rejected": rejected})


def change_in_words(before: Adaptation, after: Adaptation, seen: PromotionOutcomes) -> str:
    """What changed and why, for the commit."""
    moves = [
        f"{name.replace('_', ' ')} {old:g} to {new:g}"
        for name, old, new in zip(Adaptation._fields, before, after, strict=True)
        if old != new
    ]
    told = [f"{count} {what}" for what, count in zip(PromotionOutcomes._fields, seen, strict=True) if count]
    what = "promoted or proposed" if seen.rejected else "promoted"
    return f"{', '.join(moves)}: of what was {what}, {', '.join(told) or 'nothing has shown its worth yet'}"


def outcomes_from_record(record: Mapping[str, Any]) -> PromotionOutcomes:
    """The counts out of the store; ValueError where one is no whole number from 0 on."""
    counts = [record.get(name, 0) for name in PromotionOutcomes._fields]
    if not all(isinstance(count, int) and not isinstance(count, bool) and count >= 0 for count in counts):
        raise ValueError("a count is not a whole number")
    return PromotionOutcomes(*counts)


def render_adaptation(record: Mapping[str, Any]) -> bytes:
    """The file of promotion outcomes as JSON, one value a line."""
    return (json.dumps(record, indent=1) + "\n").encode()


def _tenths(amount: float, seen: PromotionOutcomes) -> float:
    """The share, -1 to 1, in whole tenths towards zero, so that one fact more seldom changes anything."""
    return int(10 * amount / (sum(seen) + PRIOR)) / 10


def _within(value: float, base: float, bounds: tuple[float, float]) -> float:
    low, high = min(bounds[0], base), max(bounds[1], base)
    return round(max(low, min(high, value)), 3)


def _ends(facts: Iterable[Fact]) -> dict[str, str]:
    """The day on which each superseded fact was replaced, by its id."""
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
