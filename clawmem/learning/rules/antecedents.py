"""Rewrite clauses so that they start with their topic: a name for "he", the launch for "we moved the launch"."""

from __future__ import annotations

import re

from clawmem.learning.english import grammar
from clawmem.learning.english.names import is_name
from clawmem.learning.english.sentences import TextSpan
from clawmem.learning.english.words import APPOINTMENT, FACT_THINGS, RELATION_OF

_PRONOUN = re.compile(r"(?P<who>[Hh]e|[Ss]he)(?:'(?P<short>s|ll|d))?(?= )")
_PERSON = re.compile(
    r"\b(?:[Mm]y|[Oo]ur) (?P<words>(?:[\w-]+ ){0,2}?)(?P<noun>" + "|".join(RELATION_OF) + r")\b(?!'s)"
    r"(?:,? (?P<name>[A-Z][\w-]+))?"
)
_HIS = frozenset(
    "husband boyfriend fiance fiancé son stepson father dad papa stepfather stepdad brother stepbrother uncle nephew "
    "grandfather grandpa grandson".split()
)
_HERS = frozenset(
    "wife girlfriend fiancee fiancée daughter stepdaughter mother mom mum mama stepmother stepmom sister stepsister "
    "aunt niece grandmother grandma granny granddaughter".split()
)
_DONE = re.compile(r" (?:been|got|had|started|moved|just (?:started|moved|got|had))\b")
_FAR = 160


def with_antecedent(piece: TextSpan, text: str) -> TextSpan:
    """Return the clause with its leading pronoun replaced. Its span stays that of the clause.

    The clause is unchanged if the pronoun has no clear antecedent.
    """
    pronoun = _PRONOUN.match(piece.text)
    if not pronoun:
        return piece
    before = text[max(0, piece.start - _FAR) : piece.start].replace("’", "'")
    people = {match["noun"] + (match["name"] or ""): match for match in _PERSON.finditer(before)}
    if len(people) != 1 or re.search(r"\b(?:[Hh]is|[Hh]er|[Tt]heir) \w+ [A-Z]", before):
        return piece
    person = next(iter(people.values()))
    if person["noun"] in (_HERS if pronoun["who"].lower() == "he" else _HIS):
        return piece
    rest = piece.text[pronoun.end() :]
    return TextSpan(f"{_called(person)}{_verb(pronoun['short'], rest)}{rest}", piece.start, piece.end)


_MOVED = re.compile(
    r"(?:I|[Ww]e)(?:'ve| have| had)? (?:just |finally )?(?P<verb>postponed|moved|pushed|delayed|rescheduled|extended|"
    r"brought|changed|set|raised|increased|lowered|reduced|cut) (?P<what>(?:the|our|my) [\w' -]{3,50}?) "
    r"(?P<to>(?:back |forward |up |down )?(?:from .+? )?(?:to|until|till|for|at) .*(?:\d|day).*)"
)


# "The deadline slipped to 3 June", "My appointment got moved to Friday".
_SLIPPED = re.compile(
    r"(?P<what>(?:[Tt]he|[Mm]y|[Oo]ur) [\w' -]{3,50}?)(?: has| have)?(?: just| now| been)*(?: got| gotten)? "
    r"(?P<verb>moved|slipped|shifted|pushed|postponed|delayed|rescheduled|extended|changed) "
    r"(?P<to>(?:back |forward |up |out )?(?:from .+? )?(?:to|until|till|for) (?:the )?(?:\S*\d|\w+day\b|tomorrow\b|"
    r"(?:next|this|early|late|mid)\b|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\b).*)"
)


_WHO = re.compile(
    r"(?P<name>[A-Z][\w-]+(?: [A-Z][\w-]+)?) is (?:now |also )?(?P<what>(?:my|our) (?:[\w-]+ ){0,2}?"
    r"(?:landlord|landlady|" + "|".join(RELATION_OF) + r"))(?: now)?"
)


def object_first(piece: TextSpan) -> TextSpan:
    """Return a clause that starts with its object: "the launch" for `We moved the launch to 3 June`.

    Applies to things with a date or an amount, and to people (`Tom is my husband`).
    """
    who = _WHO.fullmatch(piece.text)
    reading = grammar.read(piece.text) if who else None
    if who and reading and reading.person == grammar.NAME and is_name(who["name"]):
        return TextSpan(f"{who['what'].capitalize()} is {who['name']}", piece.start, piece.end)
    moved = _MOVED.fullmatch(piece.text) or _SLIPPED.fullmatch(piece.text)
    if not moved:
        return piece
    words = re.split(r" (?:for|of|with|on) ", moved["what"].lower())[0].split()
    if words[-1] in ("was", "were", "is", "be") or not (
        FACT_THINGS.intersection(words) or APPOINTMENT.search(words[-1])
    ):
        return piece
    what, verb = moved["what"], {"slipped": "moved", "shifted": "moved"}.get(moved["verb"], moved["verb"])
    return TextSpan(f"{what[0].upper()}{what[1:]} was {verb} {moved['to']}", piece.start, piece.end)


def _called(person: re.Match[str]) -> str:
    name = f" {person['name']}" if person["name"] else ""
    return f"My {person['words']}{person['noun']}{name}"


def _verb(short: str | None, rest: str) -> str:
    if short is None:
        return ""
    if short == "s":
        return " has" if _DONE.match(rest) else " is"
    return " will" if short == "ll" else " would"
