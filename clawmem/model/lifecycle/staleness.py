"""Staleness: why a fact should be checked before it is relied on."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from clawmem.model.facts.claim_check import failure_of
from clawmem.model.facts.fact import REDACTED, Fact
from clawmem.model.facts.reach import scope_of
from clawmem.model.language.dates import moment_of, stamp
from clawmem.model.lifecycle.premises import doubt_reason, is_due_for_review, review_words
from clawmem.model.records.event import Event

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
