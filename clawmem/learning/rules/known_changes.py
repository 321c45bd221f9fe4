"""Statements that refer to a known fact: "the deadline moved to ...", "forget that I live in ..."."""

from __future__ import annotations

import re

from clawmem.model.proposals.proposition import Proposition

RETRACTION = "taken_back"
_CHANGED = re.compile(
    r"\b(?:moved|pushed|changed|postponed|delayed|rescheduled|extended|brought|bumped|raised|increased|lowered|reduced|"
    r"cut|shortened|slipped|shifted|switched|renamed)\b|\bnot (?:on )?(?:the )?(?:[A-Z]\w+ )?\d|\b(?:is|are|'s) now\b|"
    r"\bnow (?:is|are)\b|\b(?:the|my|our) new\b|\b(?:jetzt|nun|verschoben|neue[rns]?|geändert)\b",
    re.IGNORECASE,
)
_SLOTS = frozenset(("deadline", "scheduled_for", "budget", "limit", "set_to", "ends"))


def states_change(proposition: Proposition) -> bool:
    """Return whether the proposition gives a known thing a new date or amount."""
    return proposition.predicate in _SLOTS and _CHANGED.search(proposition.source_text) is not None


CORRECTION = "correction"


def is_specific(text: str) -> bool:
    """Return whether a value contains a capital letter or a digit."""
    return re.search(r"[A-Z\d]", text) is not None
