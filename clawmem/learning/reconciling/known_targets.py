"""Find the known fact that a correction or a changed value is about."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date

from clawmem.learning.reconciling.gate import content_words
from clawmem.learning.reconciling.reconcile import ADD, UPDATE, ReconcileDecision
from clawmem.learning.rules.dating import without_any_date
from clawmem.learning.rules.known_changes import is_specific
from clawmem.model.facts.fact import Fact
from clawmem.model.language.date_words import find_dates
from clawmem.model.proposals.proposition import Proposition

_PRESENT = re.compile(r"(?:have|has|is|are|am)(?: (?:got|having|getting))?$")
_OWNERS = frozenset("user user's new".split())


def resolve_correction(proposition: Proposition, known: Iterable[Fact]) -> tuple[Proposition, ReconcileDecision] | None:
    """Return the corrected fact and the decision, or None if no known fact contains the wrong value.

    A single fact with exactly that value is replaced. Otherwise a person decides.
    """
    old, new = proposition.former or "", proposition.object or ""
    holding = [fact for fact in known if fact.is_current and _find_value(old, fact.fact)]
    exact = [fact for fact in holding if content_words(fact.object or "") == content_words(old)]
    found = sorted(exact or (holding if is_specific(old) else ()), key=_said)
    if not found:
        return None
    fact = found[-1]
    made = proposition._replace(
        statement=_replace_value(fact.fact, old, new) or fact.fact,
        subject=fact.subject,
        predicate=fact.predicate,
        object=_replace_value(fact.object or "", old, new) or fact.object,
        relation_phrase=fact.relation_phrase,
        category=fact.category,
        importance=proposition.importance if fact.importance is None else fact.importance,
    )
    if len(exact) == 1:
        return made, ReconcileDecision(UPDATE, (fact.id,), f"The text says that '{old}' was wrong.")
    reason = f"The text says that '{old}' was wrong, but not in which fact, and {len(found)} known facts contain it."
    return made, ReconcileDecision(ADD, (), reason, (fact.id,))


def find_changed(proposition: Proposition, known: Iterable[Fact]) -> tuple[Proposition, ReconcileDecision] | None:
    """Return the decision for a changed value whose thing is known under another name.

    "The deadline" means the project deadline if no other deadline is known. With several candidates a person decides.
    Return None if there is no candidate, or if the thing is known under the same name.
    """
    standing = [fact for fact in known if fact.is_current]
    if any(_same_thing(fact, proposition) for fact in standing):
        return None
    meant = [fact for fact in standing if _may_be_meant(fact, proposition)]
    if len(meant) > 1:
        reason = f"The text says that a value changed, but {len(meant)} known facts may be meant."
        return proposition, ReconcileDecision(ADD, (), reason, tuple(fact.id for fact in meant))
    if not meant:
        return None
    decision = ReconcileDecision(UPDATE, (meant[0].id,), "The text says that the known value changed.")
    return (_with_subject(proposition, meant[0].subject or "") if meant[0].predicate else proposition), decision


def _find_value(old: str, text: str) -> re.Match[str] | None:
    return re.search(rf"(?<!\w){re.escape(old)}(?!\w)", text, re.IGNORECASE)


def _replace_value(text: str, old: str, new: str) -> str | None:
    place = _find_value(old, text)
    return f"{text[: place.start()]}{new}{text[place.end() :]}" if place else None


def _said(fact: Fact) -> str:
    return str((fact.metadata or {}).get("said_at") or fact.timestamp)


def _same_thing(fact: Fact, proposition: Proposition) -> bool:
    return fact.predicate == proposition.predicate and _words(fact.subject) == _words(proposition.subject)


def _may_be_meant(fact: Fact, proposition: Proposition) -> bool:
    thing = _words(proposition.subject)
    if fact.predicate == proposition.predicate:
        return _last(fact.subject) == _last(proposition.subject) and thing < _words(fact.subject)
    # "I have a dentist appointment on May 5" names no slot; the words for the thing must be the very same.
    named = fact.predicate is None and proposition.predicate == "scheduled_for"
    return named and _is_ahead(fact, proposition) and _appointment(fact) in (thing, thing - _words(fact.subject))


def _is_ahead(fact: Fact, proposition: Proposition) -> bool:
    """Return whether a fact in the present tense names no day before the news."""
    text = (proposition.said_at or "")[:10]
    days = [found.day for found in find_dates(fact.object or "", _recorded(fact)) if found.day]
    return _PRESENT.match(fact.relation_phrase or "have") is not None and all(day >= text for day in days)


def _appointment(fact: Fact) -> frozenset[str]:
    """Return the words for an appointment without its date. "Married" stands for a wedding."""
    words = _words(without_any_date(fact.object or "", _recorded(fact)))
    return frozenset(("wedding",)) if words == {"married"} else words


def _recorded(fact: Fact) -> date:
    message = (fact.metadata or {}).get("said_at") or fact.timestamp
    return date.fromisoformat(str(message)[:10])


def _words(text: str | None) -> frozenset[str]:
    return content_words(text or "") - _OWNERS


def _last(text: str | None) -> str:
    return (text or "").lower().split()[-1:][0] if text else ""


def _with_subject(proposition: Proposition, subject: str) -> Proposition:
    """Return the proposition with the known name of its subject."""
    name, statement = proposition.subject or "", proposition.statement
    if name and statement.lower().startswith(name.lower()):
        statement = f"{subject[:1].upper()}{subject[1:]}{statement[len(name) :]}"
    return proposition._replace(subject=subject, statement=statement)
