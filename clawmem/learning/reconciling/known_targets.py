"""Find the known fact that a correction, a retraction or a changed value is about."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date

from clawmem.learning.reconciling.gate import content_words, plain
from clawmem.learning.reconciling.reconcile import ADD, RETRACT, UPDATE, ReconcileDecision
from clawmem.learning.rules.corrections import is_specific
from clawmem.learning.rules.dating import without_any_date
from clawmem.learning.rules.known_changes import words_taken_back
from clawmem.model.facts.fact import Fact
from clawmem.model.language.date_words import find_dates
from clawmem.model.proposals.proposition import Proposition

_MEATLESS = frozenset(("vegetarian", "vegan", "pescatarian"))
_RESUMED = "The text says that it is eaten or drunk now."
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


def find_retracted(proposition: Proposition, known: Iterable[Fact]) -> tuple[Proposition, ReconcileDecision] | None:
    """Return the decision to retract the facts that the proposition takes back, or None if no fact matches."""
    if proposition.predicate is None or proposition.object is None:
        return _find_forgotten(proposition, known)
    said = words_taken_back(proposition.statement)
    again = said is None
    says = _avoids if again else _says_it
    gone = [fact for fact in known if fact.is_current and says(fact, proposition, said or "")]
    if not gone:
        return None
    retraction = proposition._replace(predicate=None, object=None, relation_phrase=None, category="fact")
    return retraction, ReconcileDecision(
        RETRACT, tuple(fact.id for fact in gone), _RESUMED if again else "The text asks to forget it."
    )


def _find_forgotten(proposition: Proposition, known: Iterable[Fact]) -> tuple[Proposition, ReconcileDecision] | None:
    """Return the decision to forget what is known about a thing that is only named ("forget my phone number").

    The one value of a relation is retracted. Otherwise a person decides.
    """
    thing, subject = _words(proposition.object), plain(proposition.subject or "")
    standing = [fact for fact in known if fact.is_current]
    if proposition.predicate:
        gone = [
            one for one in standing if one.predicate == proposition.predicate and plain(one.subject or "") == subject
        ]
    else:
        gone = [one for one in standing if thing and thing <= content_words(one.fact)]
    if not gone:
        return None
    retraction = proposition._replace(predicate=None, object=None, relation_phrase=None, category="fact")
    if proposition.predicate and len(gone) == 1:
        return retraction, ReconcileDecision(RETRACT, (gone[0].id,), "The text asks to forget it.")
    reason = f"The text asks to forget something, and {len(gone)} known facts may be meant."
    return retraction, ReconcileDecision(ADD, (), reason, tuple(fact.id for fact in gone))


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


def _says_it(fact: Fact, proposition: Proposition, said: str) -> bool:
    if plain(fact.fact) == plain(said):
        return True
    same = fact.predicate is not None and fact.predicate == proposition.predicate
    value, known = content_words(proposition.object or ""), content_words(fact.object or "")
    return same and plain(fact.subject or "") == plain(proposition.subject or "") and bool(value) and value <= known


def _avoids(fact: Fact, proposition: Proposition, said: str) -> bool:
    """Return whether a fact says that its subject does not eat or drink this."""
    value, known = content_words(proposition.object or ""), content_words(fact.object or "")
    if plain(fact.subject or "") != plain(proposition.subject or "") or not value:
        return False
    if fact.predicate == "diet":
        return value == {"meat"} and bool(known & _MEATLESS) and "not" not in plain(fact.fact).split()
    same = fact.predicate == proposition.predicate and value == known
    return same and re.search(r"\b(?:not|never|no longer) (?:eat|drink)", plain(fact.fact)) is not None


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
    said = (proposition.said_at or "")[:10]
    days = [found.day for found in find_dates(fact.object or "", _recorded(fact)) if found.day]
    return _PRESENT.match(fact.relation_phrase or "have") is not None and all(day >= said for day in days)


def _appointment(fact: Fact) -> frozenset[str]:
    """Return the words for an appointment without its date. "Married" stands for a wedding."""
    words = _words(without_any_date(fact.object or "", _recorded(fact)))
    return frozenset(("wedding",)) if words == {"married"} else words


def _recorded(fact: Fact) -> date:
    said = (fact.metadata or {}).get("said_at") or fact.timestamp
    return date.fromisoformat(str(said)[:10])


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
