"""Precedents: whether a decision goes against an earlier one, and what became of decisions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clawmem.model.facts.fact import Fact
from clawmem.model.language.irregular import forms_of
from clawmem.model.language.question import search_words

DECISION = "decision"
DECISION_MAKERS = "decision_makers"
WORKED, FAILED, REVERTED = DECISION_OUTCOMES = ("worked", "failed", "reverted")
# The part of an option's words that must be in a decision for it to be that option.
_SAME = 0.75


def outcomes_of(fact: Fact) -> list[Mapping[str, Any]]:
    """Return the outcomes of a decision, oldest first, each with `outcome`, `at`, and maybe `note` and `by`."""
    items = (fact.details or {}).get("outcomes")
    return [record for record in items if isinstance(record, Mapping)] if isinstance(items, list) else []


def with_outcome(fact: Fact, outcome: Mapping[str, Any]) -> Fact:
    """Return the decision with one more outcome; nothing else of it changes."""
    details = dict(fact.details or {})
    return fact._replace(details={**details, "outcomes": [*outcomes_of(fact), dict(outcome)]})


def goes_against(decision: Fact, precedent: Fact) -> str | None:
    """Return why a decision goes against an earlier one, or None.

    It does if it chooses what the earlier one rejected, or rejects what the earlier one chose."""
    for option in _rejected(precedent):
        if _names(option, decision.fact) and not _names(option, precedent.fact):
            return f"it chooses what was rejected then: {option}"
    for option in _rejected(decision):
        if _names(option, precedent.fact) and not _names(option, decision.fact):
            return f"it rejects what was chosen then: {option}"
    return None


def _rejected(fact: Fact) -> list[str]:
    items = (fact.details or {}).get("alternatives")
    options = (
        [record.get("option") for record in items if isinstance(record, Mapping)] if isinstance(items, list) else []
    )
    return [option for option in options if isinstance(option, str)]


def _names(option: str, statement: str) -> bool:
    """Return whether a statement has enough of the words of an option, in any form."""
    words = search_words(option)
    there = {form for word in search_words(statement) for form in forms_of(word)}
    shared = sum(not there.isdisjoint(forms_of(word)) for word in words)
    return bool(words) and shared >= _SAME * len(words)
