"""What takes the one place of a relation, and what only stands beside it: "I also work at a bakery on Saturdays"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date

from clawmem.learning.reconciling.gate import content_words
from clawmem.learning.rules.dating import without_any_date
from clawmem.model.facts.catalog import Catalog
from clawmem.model.facts.fact import Fact
from clawmem.model.facts.values import ADDRESS, COUNTRY, NAMED, UNNAMED, comparable, sort_of
from clawmem.model.proposals.proposition import Proposition

_CHANGE = re.compile(
    r"\b(?:now|nowadays|these days|currently|moved?|moving|relocat\w+|settled|switch\w*|chang\w+|joined|"
    r"start(?:ed|ing)|began|hired|new|became|since|instead|no longer|any ?more|left|quit|took)\b",
    re.IGNORECASE,
)
_AWAY = re.compile(r"\b(?:moved?|moving|relocat\w+|switch\w*|chang\w+|instead|no longer|left|quit)\b", re.IGNORECASE)
_JUST_BEFORE = re.compile(r"\b(?:now|nowadays|these days|currently),?\s*$", re.IGNORECASE)
_JUST_AFTER = re.compile(r"^,?\s*(?:now|nowadays|these days|at the moment|right now)\b", re.IGNORECASE)
_NO_COMPLEMENT = frozenset("deadline deadlines got due by on set moved to date new now".split())
_HOUR = re.compile(r"\d{1,2}(?:[:.]\d\d)?(?:am|pm)?|am|pm|noon|midnight|morning|evening|night|end")
_ANY_DAY = date(2024, 1, 1)
_NEAR = 16  # characters
_TIMES = (
    r"on (?:the side|weekends|weekdays|holidays|(?:mon|tues|wednes|thurs|fri|satur|sun)days?)|at (?:the )?weekends?|"
    r"in (?:the )?(?:summers?|winters?|springs?|autumns?|mornings|evenings|afternoons)|at (?:night|times)|sometimes|"
    r"(?:part|half|most|some) of the (?:year|week|time|month)|half the (?:year|week|time)|every (?:other )?\w+"
)
_BESIDE = re.compile(
    rf"\b(?:(?<!^)also(?!,)|as well|too|part[- ]time|freelance|second (?:job|home)|{_TIMES})\b", re.IGNORECASE
)
_AT_TIMES = re.compile(rf"\b(?:{_TIMES}|when|while|during|before|after(?! all)|all the time|always)\b", re.IGNORECASE)
_MONTH = r"jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec"
# How a value of these looks; what looks otherwise is said of it, and is none.
_LOOKS = {
    "birthday": re.compile(rf"^(?:on )?(?:the )?\d|^(?:on )?(?:{_MONTH})| of (?:{_MONTH})", re.IGNORECASE),
    "email": re.compile(r"@"),
    "phone": re.compile(r"\d\D*\d\D*\d"),
}


def read_for_change(proposition: Proposition, text: str) -> Proposition:
    """The proposition, marked where its words, or those beside them in the whole text, say that it became so."""
    start, end = proposition.span
    near = _JUST_BEFORE.search(text[max(0, start - _NEAR) : start]) or _JUST_AFTER.search(text[end : end + _NEAR])
    return proposition._replace(anew=bool(near or _CHANGE.search(proposition.source_text)))


def of_same_thing(proposition: Proposition, related: Sequence[Fact]) -> list[Fact]:
    """The facts of a relation without the deadlines of something else: "on 9 June for the grant" is not that of the tax
    return, nor one that is for nothing named."""
    if proposition.predicate != "deadline":
        return list(related)
    return [fact for fact in related if _complement(fact.object) == _complement(proposition.object)]


def _complement(value: str | None) -> frozenset[str]:
    """What the value of a deadline says that it is for, besides the date."""
    words = content_words(without_any_date(value or "", _ANY_DAY)) - _NO_COMPLEMENT
    return frozenset(word for word in words if not _HOUR.fullmatch(word))


def in_its_place(proposition: Proposition) -> Proposition:
    """The proposition, without its relation where what it tells of that is no value of it: "my birthday is soon"."""
    looks = _LOOKS.get(proposition.predicate or "")
    if looks is None or proposition.ended or looks.search(proposition.object or ""):
        return proposition
    return proposition._replace(predicate=None, relation_phrase=None)


def beside(proposition: Proposition) -> Proposition:
    """The proposition as what is so besides the one value of its relation, or is not so at times."""
    return proposition._replace(predicate=None, relation_phrase=None if proposition.ended else _also(proposition))


def said_beside(proposition: Proposition, fact: Fact) -> bool:
    """Whether a fact was kept as what is so besides the value of the proposition's relation."""
    return fact.predicate is None and fact.relation_phrase == _also(proposition)


def holds_beside(proposition: Proposition, catalog: Catalog) -> bool:
    """Whether its words say that it is not the only home, employer or job."""
    several = _kind(proposition, catalog) in ("place", "organisation") or proposition.predicate == "job"
    said = proposition.source_text
    return several and bool(_BESIDE.search(said)) and not _AWAY.search(said)


def rivals(proposition: Proposition, related: Sequence[Fact], catalog: Catalog) -> list[Fact]:
    """The facts of a relation that cannot be true beside the proposition, whose value is another of its sort, and those
    that it says all of, and more ("Leeds, England")."""
    kind, value = _kind(proposition, catalog), proposition.object or ""
    return [fact for fact in related if comparable(kind, value, fact.object or value) or _says_more(value, fact.object)]


def outdated(proposition: Proposition, related: Sequence[Fact], catalog: Catalog) -> list[Fact]:
    """The facts of a relation that hold no more once the proposition does: its rivals, and where a change is told of,
    all that is no surer than what it says now. Who moves to Bergen leaves the flat as well."""
    kind, value = _kind(proposition, catalog), proposition.object or ""
    sort = sort_of(kind, value)
    if not proposition.anew or sort == ADDRESS:
        return rivals(proposition, related, catalog)
    if sort in (NAMED, COUNTRY, UNNAMED):
        return list(related)
    return [fact for fact in related if sort_of(kind, fact.object or value) == sort]


def at_times_only(denial: Proposition, fact: Fact) -> bool:
    """Whether it denies a fact for certain times alone: "I'm not vegetarian on Sundays"."""
    when = _AT_TIMES.search(denial.object or "")
    return bool(when) and _AT_TIMES.search(fact.object or "") is None


def _says_more(value: str, known: str | None) -> bool:
    words = content_words(known or "")
    return bool(words) and words <= content_words(value)


def _kind(proposition: Proposition, catalog: Catalog) -> str:
    entry = catalog.predicates.get(proposition.predicate or "")
    return entry.value if entry else ""


def _also(proposition: Proposition) -> str:
    return f"also {(proposition.predicate or '').replace('_', ' ')}"
