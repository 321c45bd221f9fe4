"""Tiers of facts: policies over last access, access count and importance; and why a fact is stale."""

import math
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from clawmem.errors import InvalidInput
from clawmem.model.facts.claim_check import failure_of
from clawmem.model.facts.fact import ACTIVE, REDACTED, RETRACTED, SUPERSEDED, Fact, importance_of, is_given_by_person
from clawmem.model.facts.reach import scope_of
from clawmem.model.facts.validity import is_over, shown_end
from clawmem.model.language.dates import days_between, moment_of, stamp
from clawmem.model.lifecycle.premises import doubt_reason, is_due_for_review, review_words
from clawmem.model.named_tuple import NamedTuple
from clawmem.model.records.event import Event

HOT = "hot"
WARM = "warm"
COLD = "cold"
TIERS = (HOT, WARM, COLD)

# (accesses, hot, warm): a fact with more than so many accesses is hot or warm for so many days after the last one.
RECENCY = ((20, 14, 60), (10, 10, 45), (-1, 7, 30))

ALWAYS_HOT = 0.8
# From this importance on, as health and standing orders have it (`clawmem.model.facts.fact`), a fact is told beside
# every question.
ALWAYS_TOLD = 0.85
WARM_IMPORTANCE = 0.4
# What `tiers.policy` may name.
RECENCY_POLICY, IMPORTANCE_POLICY, SCORE_POLICY = "recency", "importance", "score"

SCORE_HOT_DAYS, SCORE_WARM_DAYS = 7, 30
LOSS_PER_DAY = 0.01
ARCHIVE_SCORE = 0.2
ARCHIVE_DAYS = 90


class TierVerdict(NamedTuple):
    """The tier of a fact, the reason as a sentence, and the result of each policy. `deciding` is the policy in force.

    `base` is the importance that a score starts from: the one before accesses raised it."""

    tier: str
    reason: str
    recency: str
    importance: str
    score: float
    score_tier: int
    days: float
    deciding: str
    base: float


def last_access(fact: Fact) -> str:
    """Return when the fact was last retrieved, or when it was recorded if it never was."""
    return fact.last_accessed or fact.timestamp


def days_since_access(fact: Fact, now: datetime) -> float:
    """Return the days since the last access, never negative."""
    return max(0.0, days_between(last_access(fact), now))


def recency_limits(access_count: int) -> tuple[int, int]:
    """Return for how many days since access a fact with so many accesses is hot, and warm."""
    for more_than, hot, warm in RECENCY[:-1]:
        if access_count > more_than:
            return hot, warm
    return RECENCY[-1][1:]


def recency_tier(last_access: str, access_count: int, now: datetime) -> str:
    """Return the tier by recency: hot for 7 days, warm for 30; 10 and 45 above 10 accesses, 14 and 60 above 20.

    Whole days count: a fact is still hot seven days and some hours after its last access.
    """
    return _recency(max(0.0, days_between(last_access, now)), access_count)


def _recency(days: float, access_count: int) -> str:
    hot, warm = recency_limits(access_count)
    whole = math.floor(days)
    return HOT if whole <= hot else WARM if whole <= warm else COLD


def policy_tier(policy: str, importance: float, access_count: int, last_access: str, now: datetime) -> str:
    """Return the tier of a fact by one policy: recency, importance or score."""
    if policy == IMPORTANCE_POLICY:
        return importance_tier(importance)
    days = max(0.0, days_between(last_access, now))
    if policy == SCORE_POLICY:
        return TIERS[score_tier(score(importance, access_count, days), days) - 1]
    return _recency(days, access_count)


def score(base: float, n: int, days: float) -> float:
    """`base * (1 + ln(max(n, 1)) * 0.1) * max(0, 1 - days * 0.01)`, for n accesses, the last `days` ago."""
    return base * (1 + math.log(max(n, 1)) * 0.1) * max(0.0, 1 - days * LOSS_PER_DAY)


def score_tier(value: float, days: float) -> int:
    """Return 1 above 0.7 and within 7 days of access, 2 above 0.4 and within 30 days, else 3."""
    if value > 0.7 and days <= SCORE_HOT_DAYS:
        return 1
    return 2 if value > 0.4 and days <= SCORE_WARM_DAYS else 3


def fact_score(fact: Fact, now: datetime, base: float | None = None) -> float:
    """Return the fact's score, at most 1. `base` is its importance before accesses raised it (default: as it is)."""
    plain = importance_of(fact) if base is None else base
    return min(1.0, score(plain, fact.access_count, days_since_access(fact, now)))


def importance_tier(importance: float) -> str:
    """Return hot from 0.8, warm from 0.4, else cold."""
    return HOT if importance >= ALWAYS_HOT else WARM if importance >= WARM_IMPORTANCE else COLD


def effective_tier(fact: Fact, now: datetime, policy: str = RECENCY_POLICY, base: float | None = None) -> TierVerdict:
    """Return the tier: cold if over or replaced, hot from importance 0.8, else by policy and `base` (`fact_score`)."""
    days = days_since_access(fact, now)
    recency = _recency(days, fact.access_count)
    importance = importance_tier(importance_of(fact))
    value, plain = fact_score(fact, now, base), importance_of(fact) if base is None else base
    found = TierVerdict("", "", recency, importance, value, score_tier(value, days), days, policy, plain)
    tier, reason = _decide(fact, found, now)
    return found._replace(tier=tier, reason=reason)


def tier_of(
    fact: Fact,
    now: datetime,
    asked_of: str | None = None,
    policy: str = RECENCY_POLICY,
    base: float | None = None,
) -> str:
    """Return only the tier of `effective_tier`, fast. At `asked_of`, in place of now, a fact may be over."""
    if fact.status in (SUPERSEDED, RETRACTED) or is_over(fact, asked_of or stamp(now)):
        return COLD
    if importance_of(fact) >= ALWAYS_HOT:
        return HOT
    if policy == RECENCY_POLICY:
        return _recency(days_since_access(fact, now), fact.access_count)
    weight = importance_of(fact) if base is None or policy != SCORE_POLICY else base
    return policy_tier(policy, weight, fact.access_count, last_access(fact), now)


def _decide(fact: Fact, found: TierVerdict, now: datetime) -> tuple[str, str]:
    if fact.status == SUPERSEDED:
        return COLD, f"it was superseded by {fact.superseded_by}" if fact.superseded_by else "it was superseded"
    if fact.status == RETRACTED:
        return COLD, "it was retracted"
    if is_over(fact, stamp(now)):
        return COLD, f"it is over: it was valid until {shown_end(fact)}"
    if importance_of(fact) >= ALWAYS_HOT:
        return HOT, f"its importance {importance_of(fact):g} keeps it hot at any age"
    if found.deciding == IMPORTANCE_POLICY:
        return found.importance, f"its importance is {importance_of(fact):g} (tiers.policy is importance)"
    seen = f"it was {'accessed' if fact.last_accessed else 'recorded'} {found.days:.1f} days ago"
    if found.deciding == SCORE_POLICY:
        return TIERS[found.score_tier - 1], f"its score is {found.score:.4f} and {seen} (tiers.policy is score)"
    hot, warm = recency_limits(fact.access_count)
    uses = f"{fact.access_count} access{'' if fact.access_count == 1 else 'es'}"
    return found.recency, f"{seen}; with {uses}, it is hot for {hot} days and warm for {warm}"


def never_fades(fact: Fact) -> bool:
    """Return whether no lack of use archives a fact: it is always hot, or a person gave it."""
    return importance_of(fact) >= ALWAYS_HOT or is_given_by_person(fact)


def should_archive(fact: Fact, now: datetime, archive_days: float = ARCHIVE_DAYS) -> bool:
    """Return whether an active fact has decayed: score below 0.2 and no access for `archive_days` days.

    One that never fades decays only once it is over.
    """
    if fact.status != ACTIVE or (never_fades(fact) and not is_over(fact, stamp(now))):
        return False
    return days_since_access(fact, now) >= archive_days and fact_score(fact, now) < ARCHIVE_SCORE


def explain(
    fact: Fact,
    now: datetime,
    archive_days: float = ARCHIVE_DAYS,
    policy: str = RECENCY_POLICY,
    base: float | None = None,
) -> dict[str, Any]:
    """Return the values behind the fact's tier, ready for JSON: the verdict, each policy's result and its inputs."""
    verdict = effective_tier(fact, now, policy, base)
    hot, warm = recency_limits(fact.access_count)
    return {
        "tier": verdict.tier,
        "reason": verdict.reason,
        "policy": policy,
        "status": fact.status,
        "last_access": last_access(fact),
        "days_since_access": round(verdict.days, 3),
        "access_count": fact.access_count,
        "recency": {"tier": verdict.recency, "hot_days": hot, "warm_days": warm},
        "score": {
            "tier": verdict.score_tier,
            "value": round(verdict.score, 4),
            "base": round(verdict.base, 4),
        },
        "importance": {"tier": verdict.importance, "value": round(importance_of(fact), 4)},
        "archive": {
            "due": should_archive(fact, now, archive_days),
            "never_fades": never_fades(fact),
            "below": ARCHIVE_SCORE,
            "days": archive_days,
        },
    }


GREEN, TARGET, ROTATE, COMPACT = ZONES = ("green", "target", "rotate", "compact")
ADVICE = {
    GREEN: "there is room",
    TARGET: "a good size; go on",
    ROTATE: "make a checkpoint and start a new session soon",
    COMPACT: "make a checkpoint now, and continue from its restart text",
}


# The parts of the window: from the first on the zone is target, above the others it is rotate and compact.
_TARGET, _ROTATE, _COMPACT = 0.4, 0.6, 0.8


def zone(used: int, window: int) -> str:
    """Return the zone of a context window of `window` tokens, `used` of them filled. Raise InvalidInput."""
    if window <= 0 or used < 0:
        raise InvalidInput(
            "--window must be above 0, and --used not below it.", "Example: --used 90000 --window 200000"
        )
    part = used / window
    if part > _COMPACT:
        return COMPACT
    if part > _ROTATE:
        return ROTATE
    return TARGET if part >= _TARGET else GREEN


# How the reasons begin that a confirmation does not take away.
SOURCE_CHANGED, CHECK_FAILED = "source changed", "its check failed"
# So many days without use make a fact of work stale.
STALE_DAYS = 180


def stale_reason(fact: Fact, now: datetime, sources: Mapping[str, Event]) -> str | None:
    """Return why a fact is stale, or None.

    Its day for review has passed, its source event (`sources`, by id) was changed, a fact that it rests on changed, or
    nobody has used it for STALE_DAYS. The last one holds only for facts of work and for those that no person
    stated."""
    if is_due_for_review(fact, stamp(now)[:10]):
        return review_words(fact)
    if fact.source_event is not None:
        changed = _source_change(fact, sources.get(fact.source_event))
        if changed is not None:
            return f"{SOURCE_CHANGED}: {fact.source_event} {changed}"
    doubt = doubt_reason(fact)
    if doubt is not None:
        return doubt
    failure = failure_of(fact)
    if failure is not None:
        return f"{CHECK_FAILED}: {failure}"
    if scope_of(fact) is None and fact.trust in (None, "user"):
        return None
    try:
        seen = moment_of(max(fact.timestamp, fact.last_accessed or ""))
    except ValueError:
        return None
    unused = (now - seen).days
    return f"not confirmed or used for {unused} days" if unused > STALE_DAYS else None


def _source_change(fact: Fact, event: Event | None) -> str | None:
    """Return what happened to the event that a fact cites, or None if it still says what is quoted."""
    if event is None:
        return "is no longer in the ledger"
    if (event.metadata or {}).get("revoked"):
        return "was revoked"
    if REDACTED in event.text:
        return "was redacted"
    return "no longer contains the quote" if fact.source_text and fact.source_text not in event.text else None
