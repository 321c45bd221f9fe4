"""Promotion: score whether a fact should be kept for long, with reasons, and mark promoted facts."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from datetime import date
from typing import Any

from clawmem.model.facts.fact import ACTIVE, RETRACTED, SUPERSEDED, Fact, importance_of, is_low_trust
from clawmem.model.facts.validity import is_over, shown_end
from clawmem.model.language.dates import day_of
from clawmem.model.lifecycle.tiers import ALWAYS_HOT
from clawmem.model.named_tuple import NamedTuple
from clawmem.model.records.entity import kind_of

MARK = "promoted"
# The key of the metadata of a waiting fact that says where it goes.
PLACE = "place"
WORTH = 0.6
# From this score on, a promoted fact stays hot; below it, its importance is raised to warm.
WORTH_HOT = 0.75
WARM_LIFT = 0.6

DURABLE: Mapping[str, float] = {
    "decision": 0.25,
    "health": 0.25,
    "lesson": 0.25,
    "identity": 0.2,
    "milestone": 0.2,
    "preference": 0.2,
    "relationship": 0.2,
    "requirement": 0.2,
    "goal": 0.15,
    "habit": 0.15,
    "plan": 0.1,
    "status": 0.1,
}
_OTHER = 0.05
_TRUST: Mapping[str | None, float] = {"user": 0.1, None: 0.1, "agent": 0.05}
_CONFIRMING = ("supports", "merges")
_NAMED = re.compile(r"\d|(?<=[\w,;:] )[^\W\d_a-z]\w+")
_CLASSES = {"person": "area", "company": "area"}


class PromotionScore(NamedTuple):
    """A score from 0 to 1 with its reasons; `refusal` says why a fact cannot be promoted at any score."""

    score: float
    reasons: tuple[str, ...]
    refusal: str | None = None


class ScoredFact(NamedTuple):
    """A candidate: the fact, the entity to promote it in, and its score.

    `doubt` is a reason why only a person may promote it. `proposal` is an earlier proposal to promote it, and `settled`
    is the outcome of that one: a candidate is never proposed twice. `older` are earlier statements of a person that a
    statement of theirs may replace.
    """

    fact: Fact
    entity: str
    judgement: PromotionScore
    doubt: str | None = None
    proposal: str | None = None
    settled: str | None = None
    older: tuple[Fact, ...] = ()


class PromotionTerms(NamedTuple):
    """The terms for a day's candidates.

    `worth` is the score needed. `most` is the number of promotions allowed, and `before` the number already made.
    `margin` is how far below the score a person is asked. `most_asked` and `asked_before` are the same for questions.
    """

    worth: float
    most: int
    before: int = 0
    margin: float = 0.03
    most_asked: int = 3
    asked_before: int = 0


class PromotionVerdict(NamedTuple):
    """The decision on a candidate and the reason as a sentence.

    `waits` means that a person must decide, on the proposal with the id `proposal` once it is filed.
    """

    candidate: ScoredFact
    promoted: bool
    reason: str
    waits: bool = False
    proposal: str | None = None


def promotion_of(fact: Fact) -> Mapping[str, Any] | None:
    """Return the mark of the fact's promotion (`on`, `score`, `reasons`, earlier `importance`), or None."""
    mark = (fact.metadata or {}).get(MARK)
    return mark if isinstance(mark, Mapping) and isinstance(mark.get("on"), str) else None


def waiting_for(fact: Fact, entity: str, title: str | None) -> Fact:
    """Return a fact that waits for promotion, with the entity that it then goes to, and the title of a new one."""
    place = {"entity": entity, **({"title": title} if title else {})}
    return fact._replace(metadata={**(fact.metadata or {}), PLACE: place})


def place_of_waiting(fact: Fact) -> tuple[str, str | None] | None:
    """Return the entity that a waiting fact goes to, and its title if it is new; None if the fact does not wait."""
    place = (fact.metadata or {}).get(PLACE)
    if not isinstance(place, Mapping) or not isinstance(place.get("entity"), str):
        return None
    title = place.get("title")
    return place["entity"], title if isinstance(title, str) else None


def without_place(fact: Fact) -> Fact:
    """Return a fact that waits no longer."""
    rest = {key: value for key, value in (fact.metadata or {}).items() if key != PLACE}
    return fact._replace(metadata=rest or None)


def para_class(entity: str) -> str:
    """Return the PARA class of an entity: project, area, resource or archive."""
    kind = kind_of(entity)
    return _CLASSES.get(kind, kind)


def score_fact(fact: Fact, entity: str, on: str) -> PromotionScore:
    """Score one fact as of the day `on`."""
    parts = [part(fact) for part in _PARTS]
    total = round(sum(points for points, _ in parts), 3)
    reasons = tuple(f"{words} (+{points:.2f})" for points, words in parts if points)
    return PromotionScore(min(1.0, total), reasons, promotion_refusal(fact, entity, on))


def decide(candidates: Iterable[ScoredFact], terms: PromotionTerms) -> list[PromotionVerdict]:
    """Promote the best candidates and leave the doubtful ones to a person, within the limits of the terms.

    Every candidate gets a verdict with a reason.
    """
    ranked = sorted(
        candidates,
        key=lambda candidate: (-candidate.judgement.score, -importance_of(candidate.fact), candidate.fact.id),
    )
    verdicts, room, questions = [], terms.most - terms.before, terms.most_asked - terms.asked_before
    for fact in ranked:
        verdict = _verdict(fact, terms, room, questions if terms.most else 0)
        room -= verdict.promoted
        questions -= verdict.waits
        verdicts.append(verdict)
    return verdicts


def promotion_doubt(fact: Fact, against: Iterable[str]) -> str | None:
    """Return why only a person may promote a fact: its source, or the ids of facts in conflict (`against`)."""
    if fact.trust == "external":
        return "it comes from outside, so only a person can confirm it"
    if is_low_trust(fact.trust):
        return "it comes from a tool, so only a person can confirm it"
    opposed = sorted(set(against))
    return f"it is in conflict with {', '.join(opposed)}" if opposed else None


def promotion_refusal(fact: Fact, entity: str, on: str) -> str | None:
    """Return why a fact cannot be promoted on the day `on` at any score, or None if it can."""
    if fact.status != ACTIVE:
        by = f" by {fact.superseded_by}" if fact.superseded_by else ""
        return f"it is {fact.status}{by}"
    if is_over(fact, on):
        return f"it ended on {day_of(shown_end(fact) or on)}"
    return f"{entity} is archived" if para_class(entity) == "archive" else None


def mark_promoted(fact: Fact, on: str, judgement: PromotionScore, proposal: str | None = None) -> Fact:
    """Return the promoted fact: marked, with an importance that keeps it warm, or hot from a score of 0.75.

    `proposal` is the id of the proposal that a person approved, if any.
    """
    before = importance_of(fact)
    lift = ALWAYS_HOT if judgement.score >= WORTH_HOT else WARM_LIFT
    mark = {"on": on, "score": judgement.score, "importance": before, "reasons": list(judgement.reasons)}
    mark.update({"proposal": proposal} if proposal else {})
    return fact._replace(importance=max(before, lift), metadata={**(fact.metadata or {}), MARK: mark})


def _verdict(fact: ScoredFact, terms: PromotionTerms, room: int, questions: int) -> PromotionVerdict:
    score, worth = fact.judgement.score, terms.worth
    against = fact.judgement.refusal or fact.settled
    if against is not None:
        return PromotionVerdict(fact, False, against, proposal=fact.proposal)
    if score < round(worth - terms.margin, 3):
        return PromotionVerdict(fact, False, f"its score is {score:.2f}, and {worth:.2f} is needed")
    decimals = 2 if f"{score:.2f}" != f"{worth:.2f}" else 3
    below = f"its score is {score:.{decimals}f}, just below the {worth:.{decimals}f} needed"
    doubt = fact.doubt or (below if score < worth else None)
    if doubt and questions > 0:
        return PromotionVerdict(fact, False, doubt, waits=True)
    if doubt:
        return PromotionVerdict(fact, False, f"{doubt}; a person is asked at most {terms.most_asked} times a day")
    if room <= 0:
        return PromotionVerdict(fact, False, f"its score is high enough, but the limit is {terms.most} a day")
    return PromotionVerdict(
        fact, True, f"its score is {score:.2f}, and {worth:.2f} is needed: " + "; ".join(fact.judgement.reasons)
    )


def _category(fact: Fact) -> tuple[float, str]:
    points = DURABLE.get(fact.category, _OTHER)
    return points, f"{fact.category} {'lasts' if points > 0.1 else 'may pass'}"


def _importance(fact: Fact) -> tuple[float, str]:
    return round(0.3 * importance_of(fact), 3), f"importance {importance_of(fact):g}"


def _specific(fact: Fact) -> tuple[float, str]:
    triple = bool(fact.subject and fact.predicate and fact.object)
    named = bool(_NAMED.search(fact.fact))
    long = len(fact.fact.split()) >= 4
    return round(0.07 * triple + 0.05 * named + 0.03 * long, 3), "specific"


def _confirmed(fact: Fact) -> tuple[float, str]:
    times = sum(1 for link in fact.links if link.type in _CONFIRMING)
    sure = fact.confidence if fact.confidence is not None else 0.0
    points = min(0.15, 0.05 * times + (0.1 if sure >= 0.95 else 0.05 if sure >= 0.9 else 0.0))
    return round(points, 3), "confirmed" if times or sure >= 0.95 else "said plainly"


def _recalled(fact: Fact) -> tuple[float, str]:
    return (0.05, "asked for already") if fact.access_count else (0.0, "")


def _trust(fact: Fact) -> tuple[float, str]:
    return _TRUST.get(fact.trust, 0.0), f"from {fact.trust or 'a person'}"


_PARTS: tuple[Callable[[Fact], tuple[float, str]], ...] = (
    _category,
    _importance,
    _specific,
    _confirmed,
    _recalled,
    _trust,
)


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
    ends = {link.to: day_of(link.at) for fact in known for link in fact.links if link.type == "supersedes" and link.at}
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
