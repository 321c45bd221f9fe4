"""Clauses that share one subject ("I live in Oslo and work at Equinor"), each read with that subject."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from clawmem.learning.english import grammar
from clawmem.learning.english.sentences import TextSpan, sub_span
from clawmem.learning.english.verbs import PRESENT, lemma_as
from clawmem.model.proposals.proposition import Proposition

ReadClause = Callable[[TextSpan], Sequence[Proposition]]

_JOINT = re.compile(
    r"(?:,? (?:and|but)|,)(?: (?:also|now|then|recently|just|currently|still|both))* (?=(?P<verb>[a-z']+)\b)"
)
# With the words before it that say when: "Yesterday I", "In 2020, we".
_PERSON = re.compile(r"(?P<who>(?:[A-Z]\w*(?: \w+){0,3},? )??(?:I|[Ww]e)|[Hh]e|[Ss]he)(?:'\w+)? ")
_STATES = frozenset(("status", "identity", "health", "preference", "relationship"))
_NOT_VERBS = frozenset("a an the my our his her their its to of in on at for with from not".split())
_BEFORE_BARE = re.compile(
    r"\b(?:to|will|can|gonna|not|don't|didn't|'ll|let|lets|help|helps|make|makes) (?P<verb>[a-z]+)\b"
)
_MOST = 4
# "I'm vegan and allergic to nuts" shares the verb as well.
_BE = {"i": "am", "we": "are"}
_IS = re.compile(r"^(?:I'm|I am|[Ww]e're|[Ww]e are|[Hh]e's|[Ss]he's|.{2,40}? is) ")
_STATE = re.compile(
    r"(?:\w+ )?(?:allergic|intolerant) to |(?:married|engaged) to |(?:afraid|scared|terrified) of |fluent in |"
    r"based in |"
    r"(?:vegan|vegetarian|diabetic|asthmatic|deaf|dyslexic|epileptic|celiac|divorced|widowed|retired)\b"
)


def read_parts(piece: TextSpan, read: ReadClause) -> list[Proposition]:
    """Read each part of a clause with the shared subject.

    A part that says nothing of a known kind stays with its neighbour.
    """
    subject = _subject(piece.text)
    later: list[Proposition] = []
    for joint in reversed(list(_JOINT.finditer(piece.text))[:_MOST]) if subject else ():
        if joint["verb"] in _NOT_VERBS or _may_be_bare(piece.text[: joint.start()], joint["verb"]):
            continue
        propositions = _of_kind(read(_with_subject(piece, joint.end(), subject)))
        if propositions:
            later = [*propositions, *later]
            piece = sub_span(piece, 0, joint.start())
    return [*read(piece), *later]


def _subject(text: str) -> str:
    """The words that the clause says it of; empty where it begins otherwise."""
    person = _PERSON.match(text)
    if person:
        return person["who"]
    reading = grammar.read(text)
    return reading.subject if reading and reading.person in (grammar.MINE, grammar.THING, grammar.NAME) else ""


def _with_subject(piece: TextSpan, start: int, subject: str) -> TextSpan:
    """The rest of the clause with its subject before it; its place in the text is that of the rest."""
    rest = sub_span(piece, start, len(piece.text))
    be = (
        f"{_BE.get(subject.split()[-1].lower(), 'is')} "
        if _STATE.match(rest.text) and _IS.search(piece.text[:start])
        else ""
    )
    return TextSpan(f"{subject} {be}{rest.text}", rest.start, rest.end)


def _may_be_bare(before: str, verb: str) -> bool:
    """Whether the verb may hang on an earlier one ("to hike and work with wood") and not on the subject."""
    if lemma_as(verb, PRESENT) != verb:
        return False
    return any(lemma_as(one["verb"], PRESENT) == one["verb"] for one in _BEFORE_BARE.finditer(before))


def _of_kind(propositions: Sequence[Proposition]) -> Sequence[Proposition]:
    return propositions if any(one.predicate or one.category in _STATES for one in propositions) else ()
