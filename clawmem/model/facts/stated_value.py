"""The value that a fact states for a relation with one value at a time, by its triple or by plain words.

"Jane lives in Lisbon now." states that the home of Jane is Lisbon. Only statements that begin with their subject and
use a phrase of the catalog are read; hedges, denials and additions ("also lives in") state no value.
"""

import re
from collections.abc import Iterable
from functools import lru_cache

from clawmem.model.facts.catalog import Catalog
from clawmem.model.facts.fact import Fact
from clawmem.model.facts.validity import validity
from clawmem.model.language.dates import begin_instant
from clawmem.model.language.languages import rows, word_list
from clawmem.model.language.text import normal
from clawmem.model.named_tuple import NamedTuple

# Their phrases are too common to be read without grammar.
_UNREAD = frozenset(("age", "diet", "favorite", "limit", "set_to"))
_PAST_VERBS = frozenset("born moved relocated grew joined married must is was".split())
_LONGEST_SUBJECT = 5
_LOOSE = re.compile(
    r"n't\b|\b(?:not|never|no|nobody|if|unless|maybe|perhaps|probably|possibly|might|may be|may have|"
    r"could|would|should|will|wants?|"
    r"plans?|hopes?|thinks?|believes?|says?|said|used|former|formerly|previously|once|also|too|either|part[- ]time|"
    r"sometimes|temporarily|because|but|when|while|until|almost|nearly)\b|[?;:]",
    re.IGNORECASE,
)
_NOW = r"(?:right now|now|currently|today|these days|nowadays|at the moment|at present|again|instead)"
_NOW_ASIDE = re.compile(rf",? {_NOW}", re.IGNORECASE)
_MONTH = "(?:january|february|march|april|may|june|july|august|september|october|november|december)"
_LAST_ASIDE = re.compile(
    rf",? (?:(?:since|as of|from|for|with|near|by) |(?:in|on) (?=(?:\d{{1,2}}\.? )?{_MONTH}\b|\d{{4}}\b)"
    r"|(?:last|this) (?=(?:year|month|week|spring|summer|autumn|fall|winter)\b))",
    re.IGNORECASE,
)
_LEADING = re.compile(rf"^(?:{_NOW},? )", re.IGNORECASE)
# What may stand between a subject and the phrase: "Jane has just moved to", "Jane's new home city is".
_BETWEEN = re.compile(rf" (?:{_NOW}|has|just|really|already|actually|new|current|latest)", re.IGNORECASE)
_WHEN = re.compile(r"^(?:since|as of|from|in) [^,]{2,30}, ", re.IGNORECASE)
_GOING_ON = re.compile(
    rf" (?:(?:is|am|has been) (?:(?:{_NOW}|just) )?(?:living|working)|(?P<has>has (?:lived|worked)))"
    r" (?P<how>in|at|for|as)\b",
    re.IGNORECASE,
)
_FIRST_PERSON = {"I'm": "is", "I am": "is", "I have": "has", "I was": "was"}


class SinglePhrase(NamedTuple):
    """A phrase of the catalog for a relation with one value, and the type of its values."""

    phrase: str
    predicate: str
    kind: str


class StatedValue(NamedTuple):
    """Whose value it is (normal form), of which relation, of which type, and the value without extra words."""

    subject: str
    predicate: str
    kind: str
    value: str


def single_phrases(catalog: Catalog) -> tuple[SinglePhrase, ...]:
    """Return the phrases of all relations with one value, longest first, and each relation's own name."""
    found = [
        SinglePhrase(phrase, name, catalog.predicates[name].value)
        for phrase, name in catalog.names.items()
        if catalog.predicates[name].single
    ]
    return tuple(sorted(found, key=lambda phrase: (-len(phrase.phrase), phrase.phrase)))


def stated_value(fact: Fact, phrases: Iterable[SinglePhrase]) -> StatedValue | None:
    """Return the value that a fact states, or None. A fact with a relation is read by its triple alone."""
    if fact.predicate or fact.object:
        kinds = {phrase.predicate: phrase.kind for phrase in phrases}
        if not (fact.subject and fact.object and fact.predicate in kinds):
            return None
        return StatedValue(
            _subject(fact.subject), fact.predicate or "", kinds[fact.predicate or ""], _bare(fact.object)
        )
    return _read(fact.fact, phrases)


def are_rivals(value: StatedValue, other: StatedValue) -> bool:
    """Return whether two values of one subject and relation cannot both be true."""
    ours, theirs = normal(value.value), normal(other.value)
    if value[:2] != other[:2] or ours == theirs or _holds(ours, theirs) or _holds(theirs, ours):
        return False
    return are_exclusive(value.kind, value.value, other.value)


def hold_together(fact: Fact, other: Fact) -> bool:
    """Return whether there is a time at which both facts are true."""
    begins, ends = zip(validity(fact), validity(other), strict=True)
    begin, end = max(filter(None, begins), default=""), min(filter(None, ends), default=None)
    return end is None or begin_instant(begin) < end


def _holds(longer: str, shorter: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(shorter)}(?!\w)", longer) is not None


def _read(statement: str, phrases: Iterable[SinglePhrase]) -> StatedValue | None:
    text = _in_present(_third_person(_WHEN.sub("", statement.replace("’", "'").strip())))
    lowered = text.lower()
    for phrase, predicate, kind in phrases:
        if predicate in _UNREAD or phrase not in lowered:
            continue
        first = phrase.split()[0]
        verb = first in _PAST_VERBS or first.endswith("s") or " is " in phrase
        before, found, after = _around(text, lowered, f" {phrase} " if verb and " " in phrase else f" {phrase} is ")
        subject = _without_between(before).removesuffix("'s")
        value = _bare(after)
        if found and value and 0 < len(subject.split()) <= _LONGEST_SUBJECT and not _LOOSE.search(f"{subject} {after}"):
            return StatedValue(_subject(subject), predicate, kind, value)
    return None


def _around(text: str, lowered: str, phrase: str) -> tuple[str, bool, str]:
    at = lowered.find(phrase)
    return text[: max(at, 0)], at > 0, text[at + len(phrase) :] if at > 0 else ""


def _in_present(text: str) -> str:
    """Return a statement with "lives in" for "is living in", and for "has lived in" if it says since when."""
    since = text.rfind(" since ")

    def plainly(found: re.Match[str]) -> str:
        if found["has"] and found.end("has") > since:
            return found[0]
        return f" {'lives' if ' li' in found[0] else 'works'} {found['how']}"

    return _GOING_ON.sub(plainly, text)


def _third_person(text: str) -> str:
    """Return a statement of the user about themself as one about the user."""
    for words, verb in _FIRST_PERSON.items():
        if text.startswith(f"{words} "):
            return f"The user {verb} {text[len(words) + 1 :]}"
    if text.startswith("My "):
        return f"The user's {text[3:]}"
    match = re.match(r"I (?:(now|currently) )?([a-z]+)( .+)", text, re.DOTALL)
    return f"The user {match[2]}{'' if match[2].endswith('ed') else 's'}{match[3]}" if match else text


def _subject(text: str) -> str:
    """Return the normal form of a subject without its article; the user keeps it."""
    name = normal(text).removeprefix("the ")
    return "the user" if name == "user" else name


def _bare(value: str) -> str:
    """Return a value without words that only say when, or with whom."""
    return _without_asides(_LEADING.sub("", value.strip())).strip(" \"'“”")


def _without_asides(value: str) -> str:
    """Return a value without the asides at its end: ", now", " since May", " (for work)" and punctuation.

    Each place is looked at once, from the end. A pattern for this would take exponential time.
    """
    asides, closed = {len(value)}, False  # where asides begin that reach to the end
    for at in range(len(value) - 1, -1, -1):
        if value[at] == ")":
            closed = closed or at + 1 in asides
        elif value[at] in ",.! " and (
            at + 1 in asides
            or (closed and value.startswith((" (", ", ("), at))
            or _LAST_ASIDE.match(value, at)
            or ((now := _NOW_ASIDE.match(value, at)) and now.end() in asides)
        ):
            asides.add(at)
    return value[: min(asides)]


def _without_between(before: str) -> str:
    """Return the words before a phrase without those that may stand between subject and phrase."""
    kept = {len(before)}  # where such words begin that reach to the end
    for at in range(len(before) - 1, -1, -1):
        if before[at] == " " and (found := _BETWEEN.match(before, at)) and found.end() in kept:
            kept.add(at)
    return before[: min(kept)]


NAMED, COUNTRY, REGION, ADDRESS = "named", "country", "region", "address"
# An unnamed thing ("a bakery"), and a description of a place or a part of something.
UNNAMED, DESCRIBED = "unnamed", "described"
# The values of these relations are names; for other relations, any two different values contradict each other.
_BY_NAME = frozenset(("place", "organisation", "person"))
_CALLED = r"\b(?:called|named) [\"']?[A-Z0-9]"
_ASIDE = r"[,(]| (?:in|near|with|on|at|of|for|from|by|outside|inside|close|next|and|or|that|which|where|who)\b"
# A part of an organisation rather than the organisation.
_PART = r"(?i)\b(?:office|branch|department|team|headquarters|hq|desk|site|floor|division|counter|unit)s?$"
_WITHOUT_NAME = frozenset("a an some my our their his her its another this that one two three any someone".split())


def are_exclusive(kind: str, text: str, other: str) -> bool:
    """Return whether two values exclude each other; `kind` is the catalog's type of the relation's values."""
    sort = value_class(kind, text)
    return sort == value_class(kind, other) and sort != DESCRIBED


@lru_cache(maxsize=4096)
def value_class(kind: str, value: str) -> str:
    """Return the class of a value; all values are `named` unless the relation is to a place, organisation or person."""
    if kind not in _BY_NAME:
        return NAMED
    if kind == "place":
        if any(letter.isdigit() for letter in value):
            return ADDRESS
        name = re.sub(r"^the ", "", normal(value).strip(" ."))
        # Countries and continents; states and provinces, of which New York and Washington are cities as well.
        for kind_of_place, names in ((COUNTRY, "countries"), (REGION, "regions")):
            if name in rows("places")[names]:
                return kind_of_place
    if _is_named(value):
        return NAMED
    return DESCRIBED if kind == "place" or re.search(_PART, _head(value)) else UNNAMED


def _is_named(value: str) -> bool:
    if re.search(_CALLED, value):
        return True
    words = _head(value).split()
    if not words or words[0].lower() in _WITHOUT_NAME:
        return False
    if words[0].lower() == "the":
        return not words[-1][0].islower()
    # Even a value in small letters is a name if one of its words is no common one.
    return any(not word[0].islower() for word in words) or not word_list("common").issuperset(words)


def _head(value: str) -> str:
    """Return the words before any addition such as "in Oslo" or "which ..."."""
    return re.split(_ASIDE, value.strip(), maxsplit=1)[0]
