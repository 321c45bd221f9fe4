"""The propositional form: "Since [[premise]], conclusion" names in brackets what a statement rests on.

Brackets count after `since`, `because`, `given` or `as`, one or several joined by commas and `and`. Other brackets,
such as links of a note, stay as they are, and so does a bracket after a backslash.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

MOST_PREMISES = 8
LONGEST_PREMISE = 300
_BRACKET = rf"\[\[[^\[\]\n]{{1,{LONGEST_PREMISE}}}\]\]"
_FORM = re.compile(
    rf"\b(?:since|because|given|as)(?:\s+that)?\s+({_BRACKET}(?:(?:\s*,\s*{_BRACKET}){{0,{4 * MOST_PREMISES}}}"
    rf"\s*,?\s+and\s+{_BRACKET}){{0,{MOST_PREMISES}}})",
    re.IGNORECASE,
)
_ONE = re.compile(_BRACKET)


class NamedPremise(NamedTuple):
    """The words in a bracket, and the half-open range of the bracket in the statement."""

    words: str
    start: int
    end: int


def named_premises(statement: str) -> tuple[NamedPremise, ...]:
    """Return the premises that a statement names, in order."""
    found = []
    for form in _FORM.finditer(statement):
        for one in _ONE.finditer(statement, *form.span(1)):
            words = one.group()[2:-2].strip()
            found += [NamedPremise(words, *one.span())] if words else []
    return tuple(found)


def with_words(statement: str, words: Callable[[NamedPremise], str | None]) -> str:
    """Return the statement with each premise replaced by `words(premise)`; None keeps the bracket.

    The backslash before a bracket is removed."""
    pieces, at = [], 0
    for one in named_premises(statement):
        said = words(one)
        pieces += [statement[at : one.start], statement[one.start : one.end] if said is None else said]
        at = one.end
    return "".join([*pieces, statement[at:]]).replace("\\[[", "[[")
