"""News that takes for granted that something is known: "the deadline moved to ...", "forget that I live in ..."."""

from __future__ import annotations

import re
from collections.abc import Iterable

from clawmem.learning.gate import content_words, plain
from clawmem.learning.reconcile import ADD, RETRACT, UPDATE, Decision
from clawmem.learning.sentences import Piece, sub_piece
from clawmem.model.fact import Fact
from clawmem.model.proposition import Proposition

TAKEN_BACK = "taken_back"
_FORGET = re.compile(
    r"(?:(?:no|ok|okay|oh|sorry|actually|wait|also|and|so|now|please|pls),? )*(?:(?:can|could|would) you (?:please )?|"
    r"you (?:can|should|may) )?(?:forget|disregard|delete|erase|unlearn) (?:(?:the fact )?that|the fact:?) "
    r"(?=(?:I|we|my|our)\b)",
    re.IGNORECASE,
)
_CHANGED = re.compile(
    r"\b(?:moved|pushed|changed|postponed|delayed|rescheduled|extended|brought|bumped|raised|increased|lowered|reduced|"
    r"cut|shortened|slipped|shifted)\b|\b(?:is|are|'s) now\b|\bnow (?:is|are)\b|\b(?:the|my|our) new\b",
    re.IGNORECASE,
)
_SLOTS = frozenset(("deadline", "scheduled_for", "budget", "limit", "set_to", "ends"))
_OWNERS = frozenset("user user's new".split())


def asked_to_forget(sentence: Piece) -> Piece | None:
    """What a sentence asks to forget, as a clause of its own; None where it asks for no such thing."""
    found = _FORGET.match(sentence.text.replace("’", "'"))
    return sub_piece(sentence, found.end(), len(sentence.text.rstrip(" .!?"))) if found else None


def taken_back(proposition: Proposition) -> Proposition:
    """The proposition as one that is not to be believed any more."""
    said = re.sub(r"^The\b", "the", proposition.statement)
    return proposition._replace(
        statement=f"It was taken back that {said}", category=TAKEN_BACK, importance=0.3, valid_from=None, ended=True
    )


def what_to_forget(proposition: Proposition, known: Iterable[Fact]) -> tuple[Proposition, Decision] | None:
    """Which of the known facts about its subject is taken back; None where nothing known says that."""
    said = proposition.statement.removeprefix("It was taken back that ")
    gone = [fact for fact in known if fact.stands and _says_it(fact, proposition, said)]
    if not gone:
        return None
    told = proposition._replace(predicate=None, object=None, relation_phrase=None, category="fact")
    return told, Decision(RETRACT, tuple(fact.id for fact in gone), "The text asks to forget it.")


def tells_of_change(proposition: Proposition) -> bool:
    """Whether it gives a thing that is spoken of as known a new day or amount."""
    return proposition.predicate in _SLOTS and _CHANGED.search(proposition.source_text) is not None


def what_changed(proposition: Proposition, known: Iterable[Fact]) -> tuple[Proposition, Decision] | None:
    """Which known fact the new value takes the place of, where it goes by another name there: "the deadline" is the
    project deadline while no other is known. Where there are several, a person decides; None where there is none, or
    where the very thing is known."""
    standing = [fact for fact in known if fact.stands]
    if any(_same_thing(fact, proposition) for fact in standing):
        return None
    meant = [fact for fact in standing if _may_be_meant(fact, proposition)]
    if len(meant) > 1:
        reason = f"The text says that it changed, but {len(meant)} known facts may be meant."
        return proposition, Decision(ADD, (), reason, tuple(fact.id for fact in meant))
    if not meant:
        return None
    decision = Decision(UPDATE, (meant[0].id,), "The text says that what is known changed.")
    return (_called(proposition, meant[0].subject or "") if meant[0].predicate else proposition), decision


def _says_it(fact: Fact, proposition: Proposition, said: str) -> bool:
    if plain(fact.fact) == plain(said):
        return True
    same = fact.predicate is not None and fact.predicate == proposition.predicate
    value, known = content_words(proposition.object or ""), content_words(fact.object or "")
    return same and plain(fact.subject or "") == plain(proposition.subject or "") and bool(value) and value <= known


def _same_thing(fact: Fact, proposition: Proposition) -> bool:
    return fact.predicate == proposition.predicate and _words(fact.subject) == _words(proposition.subject)


def _may_be_meant(fact: Fact, proposition: Proposition) -> bool:
    thing = _words(proposition.subject)
    if fact.predicate == proposition.predicate:
        return _last(fact.subject) == _last(proposition.subject) and thing < _words(fact.subject)
    # "I have a dentist appointment" names no slot; the words for the thing must be the very same.
    return fact.predicate is None and proposition.predicate == "scheduled_for" and _words(fact.object) == thing


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
