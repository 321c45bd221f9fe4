"""Statements that refer to a known fact: "the deadline moved to ...", "forget that I live in ..."."""

from __future__ import annotations

import re

from clawmem.learning.english.sentences import TextSpan, sub_span
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
_CHANGED = re.compile(
    r"\b(?:moved|pushed|changed|postponed|delayed|rescheduled|extended|brought|bumped|raised|increased|lowered|reduced|"
    r"cut|shortened|slipped|shifted)\b|\bnot (?:on )?(?:the )?(?:[A-Z]\w+ )?\d|\b(?:is|are|'s) now\b|"
    r"\bnow (?:is|are)\b|\b(?:the|my|our) new\b",
    re.IGNORECASE,
)
_SLOTS = frozenset(("deadline", "scheduled_for", "budget", "limit", "set_to", "ends"))


def forget_request(sentence: TextSpan) -> TextSpan | None:
    """Return the clause that a sentence asks to forget, or None."""
    found = _FORGET.match(sentence.text.replace("’", "'"))
    return sub_span(sentence, found.end(), len(sentence.text.rstrip(" .!?"))) if found else None


def resumed_diet(piece: TextSpan, text: str) -> TextSpan | None:
    """Return "I don't eat fish" for `I eat fish now`, the statement that it ends, or None."""
    found = _EATEN.fullmatch(piece.text.rstrip(" .!"))
    again = found and (found["again"] or _NOW.match(text, piece.end))
    return TextSpan(f"I don't {found['verb']} {found['what']}", piece.start, piece.end) if found and again else None


def as_resumed(proposition: Proposition) -> Proposition:
    """Turn the proposition that somebody does not eat something into one that they eat it now."""
    words = re.sub(r" (?:does|do) not (eat|drink) (.+?)\.?$", r" \1s \2 now.", proposition.statement)
    return proposition._replace(statement=words, category=RETRACTION, valid_from=None, ended=True)


def as_retraction(proposition: Proposition) -> Proposition:
    """Turn the proposition into a retraction of its statement."""
    said = re.sub(r"^The\b", "the", proposition.statement)
    return proposition._replace(
        statement=f"It was taken back that {said}", category=RETRACTION, importance=0.3, valid_from=None, ended=True
    )


def states_change(proposition: Proposition) -> bool:
    """Return whether the proposition gives a known thing a new date or amount."""
    return proposition.predicate in _SLOTS and _CHANGED.search(proposition.source_text) is not None
