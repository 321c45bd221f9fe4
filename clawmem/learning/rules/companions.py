"""Split clauses that state home or work together with people or a job into separate statements."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from clawmem.learning.english import grammar
from clawmem.learning.english.names import is_name
from clawmem.learning.english.sentences import TextSpan, sub_span
from clawmem.learning.english.words import RELATION_OF
from clawmem.learning.rules.hints import PersonRelation

_NAME = r"[A-Z][\w-]+(?: [A-Z][\w-]+)?"
_RELATIVES = "|".join(sorted(RELATION_OF, key=len, reverse=True))
_NAMED = re.compile(
    r"\b(?:[Mm]y|[Oo]ur) (?P<words>(?:(?:two|three|four|five|little|older|younger|elder|eldest|oldest|youngest|big|"
    rf"twin|best|half|dear) )*)(?P<noun>{_RELATIVES}),? (?P<names>{_NAME}(?:(?:,? and |, | & ){_NAME})*)(?!'s|’s|\w)"
)
_RELATIVE = re.compile(rf"(?:my|our) (?:[\w-]+ ){{0,3}}?(?:{_RELATIVES})\b(?!'s|’s)")
_ONE = {"kids": "child", "children": "child", "twins": "child", "puppies": "puppy", "ponies": "pony"}
_COUNTS = re.compile(r"\b(?:two|three|four|five) ")
_SAME_WORD = frozenset("goldfish spouse boss".split())

_PEOPLE = (
    rf"(?:(?:[Mm]y|[Oo]ur|his|her|their|an?|two|three|four|five) (?:[\w-]+ ){{0,3}}?(?:{_RELATIVES}|roommates?|"
    r"housemates?|flatmates?|in-laws)|[A-Z][a-z]+)\b"
)
_PLACE = r"(?:in|near|at|outside|on|by) (?:[A-Z]|an? |the |my |our |\w+ [A-Z]).*?"
_LIVE = r"\A(?P<who>.{1,60}?\b(?:live|lives|living|reside|resides|residing))"
_HOME = (
    re.compile(rf"{_LIVE} (?P<one>{_PLACE}) (?P<two>with {_PEOPLE}.*)"),
    re.compile(rf"{_LIVE} (?P<one>with {_PEOPLE}.*?) (?P<two>(?:in|near|outside) (?:the )?[A-Z].*)"),
)
_FIRM = r"(?:at|for) (?:the )?[A-Z].*?"
_POST = r"as (?:an?|the) .*?"
_WORK = (
    re.compile(rf"\A(?P<who>.{{1,60}}?\b(?:work|works|working)) (?P<one>{_FIRM}) (?P<two>{_POST})"),
    re.compile(rf"\A(?P<who>.{{1,60}}?\b(?:work|works|working)) (?P<one>{_POST}) (?P<two>{_FIRM})"),
)
# With these the parts do not stand alone: "with Tom since May" says since when for both.
_HANGS_ON = re.compile(
    r"\b(?:since|for (?!the\b|[A-Z])|because|while|until|when|where|which|whose|and (?:I|we|he|she|they)|but|so|not|"
    r"\d{4}|last|next|used to|no longer|anymore|if)\b"
)


class NamedPerson(NamedTuple):
    """A close person that a clause names in passing, and where in the clause."""

    relation: PersonRelation
    start: int
    end: int


def rejoin_parts(parts: Sequence[TextSpan], sentence: TextSpan) -> Iterator[TextSpan]:
    """Return the parts of a sentence; a part that is not a clause ("and our two kids") is joined to the one before."""
    kept: TextSpan | None = None
    for part in parts:
        between = sentence.text[kept.end - sentence.start : part.start - sentence.start] if kept else ""
        if kept and re.fullmatch(r",? and ", between) and _is_list(part.text):
            kept = TextSpan(
                sentence.text[kept.start - sentence.start : part.end - sentence.start], kept.start, part.end
            )
            continue
        if kept:
            yield kept
        kept = part
    if kept:
        yield kept


def split_home_and_work(piece: TextSpan) -> tuple[TextSpan, ...]:
    """Split a clause about home or work into one clause for the place and one for each person or job in it.

    Other clauses are returned unchanged. Each part has the span of the whole clause.
    """
    text = piece.text.rstrip(" .!,")
    if _HANGS_ON.search(text) is None:
        for form in (*_HOME, *_WORK):
            found = form.fullmatch(text)
            if found:
                return tuple(
                    TextSpan(f"{found['who']} {found[part]}", piece.start, piece.end) for part in ("one", "two")
                )
    return (piece,)


def people_named(piece: TextSpan) -> Iterator[NamedPerson]:
    """Return the people that a clause names as a husband, child, dog or similar of the speaker."""
    for found in _NAMED.finditer(piece.text):
        noun, many = _singular(found["noun"])
        names = re.split(r",? and |, | & ", found["names"]) if many else [re.split(r",| and | & ", found["names"])[0]]
        words = _COUNTS.sub("", found["words"]) + noun
        place = sub_span(piece, found.start(), found.end())
        for name in filter(is_name, names):
            yield NamedPerson(PersonRelation(RELATION_OF[found["noun"]], words, name), place.start, place.end)


def _is_list(text: str) -> bool:
    """Whether words only name somebody of the speaker's, and say nothing of them."""
    return _RELATIVE.match(text) is not None and grammar.read(text.rstrip(" .!")) is None


def _singular(noun: str) -> tuple[str, bool]:
    """What one of them is called, and whether the word means several."""
    if noun in _ONE:
        return _ONE[noun], True
    several = noun.endswith("s") and noun not in _SAME_WORD and noun[:-1] in RELATION_OF
    return (noun[:-1] if several else noun), several
