"""News that takes for granted that something is known: "the deadline moved to ...", "forget that I live in ..."."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date

from clawmem.learning.english.sentences import TextSpan, sub_span
from clawmem.learning.reconciling.gate import content_words, plain
from clawmem.learning.reconciling.reconcile import ADD, RETRACT, UPDATE, ReconcileDecision
from clawmem.learning.rules.dating import without_any_date
from clawmem.model.facts.fact import Fact
from clawmem.model.language.date_words import find_dates
from clawmem.model.proposals.proposition import Proposition

RETRACTION = "taken_back"
_FORGET = re.compile(
    r"(?:(?:no|ok|okay|oh|sorry|actually|wait|also|and|so|now|please|pls),? )*(?:(?:can|could|would) you (?:please )?|"
    r"you (?:can|should|may) )?(?:(?:forget|disregard|delete|erase|unlearn) (?:(?:the fact )?that|the fact:?)|"
    r"(?:it'?s|it is|that was) (?:not|no longer) true(?: any ?more)? that|it isn't true(?: any ?more)? that|"
    r"i was (?:only |just )?(?:joking|kidding|lying) when i (?:said|told you)(?: that)?) (?=(?:I|we|my|our)\b)",
    re.IGNORECASE,
)
_EATEN = re.compile(
    r"I(?:'ve| have)? (?:(?:just |recently )?started (?:to )?)?(?P<verb>eat|drink)(?:ing)? "
    r"(?P<what>(?!to\b)[\w-]+(?: (?!now\b|again\b)[\w-]+){0,2}?)(?P<again> (?:now|again|these days))?"
)
_NOW = re.compile(r",? (?:now|again|these days)(?=[ .!,]*(?:$|\n|[A-Z]|\w+ I\b))", re.MULTILINE)
_MEATLESS = frozenset(("vegetarian", "vegan", "pescatarian"))
_AGAIN = "The text says that it is eaten or drunk now."
_CHANGED = re.compile(
    r"\b(?:moved|pushed|changed|postponed|delayed|rescheduled|extended|brought|bumped|raised|increased|lowered|reduced|"
    r"cut|shortened|slipped|shifted)\b|\bnot (?:on )?(?:the )?(?:[A-Z]\w+ )?\d|\b(?:is|are|'s) now\b|"
    r"\bnow (?:is|are)\b|\b(?:the|my|our) new\b",
    re.IGNORECASE,
)
_SLOTS = frozenset(("deadline", "scheduled_for", "budget", "limit", "set_to", "ends"))
_PRESENT = re.compile(r"(?:have|has|is|are|am)(?: (?:got|having|getting))?$")
_OWNERS = frozenset("user user's new".split())


def forget_request(sentence: TextSpan) -> TextSpan | None:
    """What a sentence asks to forget, as a clause of its own; None where it asks for no such thing."""
    found = _FORGET.match(sentence.text.replace("’", "'"))
    return sub_span(sentence, found.end(), len(sentence.text.rstrip(" .!?"))) if found else None


def resumed_diet(piece: TextSpan, text: str) -> TextSpan | None:
    """`I eat fish now` as what it ends, "I don't eat fish"; None where a clause says no such thing."""
    found = _EATEN.fullmatch(piece.text.rstrip(" .!"))
    again = found and (found["again"] or _NOW.match(text, piece.end))
    return TextSpan(f"I don't {found['verb']} {found['what']}", piece.start, piece.end) if found and again else None


def as_resumed(proposition: Proposition) -> Proposition:
    """The proposition that somebody does not eat something, as one that they do now."""
    words = re.sub(r" (?:does|do) not (eat|drink) (.+?)\.?$", r" \1s \2 now.", proposition.statement)
    return proposition._replace(statement=words, category=RETRACTION, valid_from=None, ended=True)


def as_retraction(proposition: Proposition) -> Proposition:
    """The proposition as one that is not to be believed any more."""
    said = re.sub(r"^The\b", "the", proposition.statement)
    return proposition._replace(
        statement=f"It was taken back that {said}", category=RETRACTION, importance=0.3, valid_from=None, ended=True
    )


def find_retracted(proposition: Proposition, known: Iterable[Fact]) -> tuple[Proposition, ReconcileDecision] | None:
    """Which of the known facts about its subject is taken back; None where nothing known says that."""
    said = proposition.statement.removeprefix("It was taken back that ")
    again = said == proposition.statement
    says = _avoids if again else _says_it
    gone = [fact for fact in known if fact.stands and says(fact, proposition, said)]
    if not gone:
        return None
    told = proposition._replace(predicate=None, object=None, relation_phrase=None, category="fact")
    return told, ReconcileDecision(
        RETRACT, tuple(fact.id for fact in gone), _AGAIN if again else "The text asks to forget it."
    )


def states_change(proposition: Proposition) -> bool:
    """Whether it gives a thing that is spoken of as known a new day or amount."""
    return proposition.predicate in _SLOTS and _CHANGED.search(proposition.source_text) is not None


def find_changed(proposition: Proposition, known: Iterable[Fact]) -> tuple[Proposition, ReconcileDecision] | None:
    """Which known fact the new value takes the place of, where it goes by another name there: "the deadline" is the
    project deadline while no other is known. Where there are several, a person decides; None where there is none, or
    where the very thing is known."""
    standing = [fact for fact in known if fact.stands]
    if any(_same_thing(fact, proposition) for fact in standing):
        return None
    meant = [fact for fact in standing if _may_be_meant(fact, proposition)]
    if len(meant) > 1:
        reason = f"The text says that it changed, but {len(meant)} known facts may be meant."
        return proposition, ReconcileDecision(ADD, (), reason, tuple(fact.id for fact in meant))
    if not meant:
        return None
    decision = ReconcileDecision(UPDATE, (meant[0].id,), "The text says that what is known changed.")
    return (_called(proposition, meant[0].subject or "") if meant[0].predicate else proposition), decision


def _says_it(fact: Fact, proposition: Proposition, said: str) -> bool:
    if plain(fact.fact) == plain(said):
        return True
    same = fact.predicate is not None and fact.predicate == proposition.predicate
    value, known = content_words(proposition.object or ""), content_words(fact.object or "")
    return same and plain(fact.subject or "") == plain(proposition.subject or "") and bool(value) and value <= known


def _avoids(fact: Fact, proposition: Proposition, said: str) -> bool:
    """Whether a fact says that its subject does not eat or drink just this."""
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
    """Whether a fact, told in the present, names no day that was over when the news was told."""
    said = (proposition.said_at or "")[:10]
    days = [found.day for found in find_dates(fact.object or "", _recorded(fact)) if found.day]
    return _PRESENT.match(fact.relation_phrase or "have") is not None and all(day >= said for day in days)


def _appointment(fact: Fact) -> frozenset[str]:
    """The words for what somebody has on a day, without the day; who is getting married has a wedding."""
    words = _words(without_any_date(fact.object or "", _recorded(fact)))
    return frozenset(("wedding",)) if words == {"married"} else words


def _recorded(fact: Fact) -> date:
    told = (fact.metadata or {}).get("said_at") or fact.timestamp
    return date.fromisoformat(str(told)[:10])


def _words(text: str | None) -> frozenset[str]:
    return content_words(text or "") - _OWNERS


def _last(text: str | None) -> str:
    return (text or "").lower().split()[-1:][0] if text else ""


def _called(proposition: Proposition, subject: str) -> Proposition:
    """The proposition with its thing called as it is known."""
    name, statement = proposition.subject or "", proposition.statement
    if name and statement.lower().startswith(name.lower()):
        statement = f"{subject[:1].upper()}{subject[1:]}{statement[len(name) :]}"
    return proposition._replace(subject=subject, statement=statement)
