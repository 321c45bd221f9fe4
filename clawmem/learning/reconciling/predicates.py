"""Relations of learned facts: the predicate of the catalog for a phrase, and which values exclude each other."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date

from clawmem.learning.reconciling.gate import content_words
from clawmem.learning.rules.clauses import without_any_date
from clawmem.model.facts.catalog import Catalog, canonical_predicate
from clawmem.model.facts.fact import Fact
from clawmem.model.facts.stated_value import ADDRESS, COUNTRY, NAMED, REGION, UNNAMED, are_exclusive, value_class
from clawmem.model.language.text import normal
from clawmem.model.proposals.para import Proposition

_MAX_UNDERSCORES = 4
# One verb in the present tense: a lasting state. A single past action ("went", "won") is not a relation.
_PRESENT = re.compile(r"[a-z]{3,}[^su]s")
_EMPTY = frozenset(
    "has does goes gets takes makes says comes thinks feels tries seems looks means wants needs knows keeps gives "
    "sees hopes finds lets puts shows tells asks hears plans starts stops begins spends becomes "
    "is was are be have had do did".split()
)
_NAME = re.compile(r"[^a-z0-9]+")


def map_predicate(proposition: Proposition, catalog: Catalog, by_model: bool) -> Proposition:
    """Return the proposition with the catalog's predicate for its relation phrase, if it has no predicate."""
    phrase = proposition.relation_phrase
    if proposition.predicate or not proposition.object or not phrase or not is_lasting(phrase, by_model):
        return proposition
    return proposition._replace(predicate=canonical_predicate(catalog, phrase))


def is_lasting(phrase: str, by_model: bool) -> bool:
    """Return whether a relation phrase names a lasting relation.

    A model returns relations. The rules return the verb of the clause, and only the present tense means a state.
    """
    if by_model:
        return phrase not in _EMPTY and predicate_name(phrase).count("_") < _MAX_UNDERSCORES
    return _PRESENT.fullmatch(phrase) is not None and phrase not in _EMPTY


def predicate_name(phrase: str) -> str:
    """Return the phrase as a predicate name: lower case, words joined by underscores."""
    return _NAME.sub("_", normal(phrase)).strip("_")


_CHANGE = re.compile(
    r"\b(?:now|nowadays|these days|currently|moved?|moving|relocat\w+|settled|switch\w*|chang\w+|joined|"
    r"start(?:ed|ing)|began|hired|new|became|since|instead|no longer|any ?more|left|quit|took|"
    r"upgrad\w+|bump\w+|renam\w+|replac\w+|"
    r"jetzt|nun|inzwischen|gezogen|umgezogen|gewechselt|umgestiegen|verschoben|neue[rns]?|nicht mehr)\b",
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
# The form of a value for these predicates. Other text describes the value and is not one.
_LOOKS = {
    "birthday": re.compile(rf"^(?:on )?(?:the )?\d|^(?:on )?(?:{_MONTH})| of (?:{_MONTH})", re.IGNORECASE),
    "email": re.compile(r"@"),
    "phone": re.compile(r"\d\D*\d\D*\d"),
}


def mark_change(proposition: Proposition, text: str) -> Proposition:
    """Return the proposition with `anew` set if its words, or the words around them in `text`, state a change."""
    start, end = proposition.span
    near = _JUST_BEFORE.search(text[max(0, start - _NEAR) : start]) or _JUST_AFTER.search(text[end : end + _NEAR])
    return proposition._replace(anew=bool(near or _CHANGE.search(proposition.source_text)))


def of_same_thing(proposition: Proposition, related: Sequence[Fact]) -> list[Fact]:
    """The facts of a relation without those of something else.

    The deadline "on 9 June for the grant" is not that of the tax return, nor one that is for nothing named. "The port
    is 3000" may be said of another program than "the port is 8080" was, unless the text states a change.
    """
    if proposition.predicate == "set_to" and not (proposition.anew or proposition.former or proposition.corrects):
        return [
            fact
            for fact in related
            if proposition.ended or normal(fact.object or "") == normal(proposition.object or "")
        ]
    if proposition.predicate != "deadline":
        return list(related)
    return [fact for fact in related if _complement(fact.object) == _complement(proposition.object)]


def _complement(value: str | None) -> frozenset[str]:
    """What the value of a deadline says that it is for, besides the date."""
    words = content_words(without_any_date(value or "", _ANY_DAY)) - _NO_COMPLEMENT
    return frozenset(word for word in words if not _HOUR.fullmatch(word))


def drop_unfit_predicate(proposition: Proposition) -> Proposition:
    """Return the proposition without its predicate if the object is not a valid value ("my birthday is soon")."""
    looks = _LOOKS.get(proposition.predicate or "")
    if looks is None or proposition.ended or looks.search(proposition.object or ""):
        return proposition
    return proposition._replace(predicate=None, relation_phrase=None)


def as_additional(proposition: Proposition) -> Proposition:
    """Return the proposition without its predicate, as an additional value or as an exception at certain times."""
    return proposition._replace(
        predicate=None, relation_phrase=None if proposition.ended else _additional_phrase(proposition)
    )


def is_additional(proposition: Proposition, fact: Fact) -> bool:
    """Return whether a fact was stored as an additional value of the proposition's relation."""
    return fact.predicate is None and fact.relation_phrase == _additional_phrase(proposition)


def adds_value(proposition: Proposition, catalog: Catalog) -> bool:
    """Return whether the text says that this is not the only home, employer or job."""
    several = _kind(proposition, catalog) in ("place", "organisation") or proposition.predicate == "job"
    text = proposition.source_text
    return several and bool(_BESIDE.search(text)) and not _AWAY.search(text)


def rivals(proposition: Proposition, related: Sequence[Fact], catalog: Catalog) -> list[Fact]:
    """Return the facts that cannot be true together with the proposition.

    They have another value of the same sort, or a less detailed one ("Leeds" for "Leeds, England").
    """
    kind, value = _kind(proposition, catalog), proposition.object or ""
    return [
        fact for fact in related if are_exclusive(kind, value, fact.object or value) or _says_more(value, fact.object)
    ]


def outdated(proposition: Proposition, related: Sequence[Fact], catalog: Catalog) -> list[Fact]:
    """Return the facts that are no longer valid once the proposition is.

    These are its rivals, and after a change also less specific facts: whoever moves to Bergen leaves the flat too.
    """
    kind, value = _kind(proposition, catalog), proposition.object or ""
    sort = value_class(kind, value)
    if not proposition.anew or sort == ADDRESS:
        return rivals(proposition, related, catalog)
    if sort in (NAMED, COUNTRY, REGION, UNNAMED):
        return list(related)
    return [fact for fact in related if value_class(kind, fact.object or value) == sort]


def denies_only_at_times(denial: Proposition, fact: Fact) -> bool:
    """Return whether it denies a fact only at certain times ("I'm not vegetarian on Sundays")."""
    when = _AT_TIMES.search(denial.object or "")
    return bool(when) and _AT_TIMES.search(fact.object or "") is None


def _says_more(value: str, known: str | None) -> bool:
    words = content_words(known or "")
    return bool(words) and words <= content_words(value)


def _kind(proposition: Proposition, catalog: Catalog) -> str:
    entry = catalog.predicates.get(proposition.predicate or "")
    return entry.value if entry else ""


def _additional_phrase(proposition: Proposition) -> str:
    return f"also {(proposition.predicate or '').replace('_', ' ')}"
