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
        for match in _ONE.finditer(statement, *form.span(1)):
            words = match.group()[2:-2].strip()
            found += [NamedPremise(words, *match.span())] if words else []
    return tuple(found)


def with_references(statement: str, reference: Callable[[NamedPremise], str | None]) -> str:
    """Return the statement with `[[reference(premise)]]` for each premise; None keeps the bracket as it is."""
    pieces, at = [], 0
    for named_premise in named_premises(statement):
        found = reference(named_premise)
        pieces += [
            statement[at : named_premise.start],
            statement[named_premise.start : named_premise.end] if found is None else f"[[{found}]]",
        ]
        at = named_premise.end
    return "".join([*pieces, statement[at:]])


def conclusion_of(statement: str, reference: Callable[[NamedPremise], str | None]) -> str:
    """Return what a statement concludes: without each clause whose premises are all known, with references elsewhere.

    The words of a premise would live on in the statement after the premise was withdrawn. The backslash before a
    bracket is removed."""
    names = {named_premise.start: reference(named_premise) for named_premise in named_premises(statement)}
    kept = statement
    for form in reversed(list(_FORM.finditer(statement))):
        if all(names.get(match.start()) for match in _ONE.finditer(statement, *form.span(1))):
            before, after = kept[: form.start()].rstrip(" ,("), kept[form.end() :].lstrip(" ,)")
            joined = f"{before}{'' if not before or after[:1] in ('', '.', '!', '?', ';', ':') else ' '}{after}"
            kept = joined[:1].upper() + joined[1:] if not before else joined
    kept = kept if any(map(str.isalnum, kept)) else statement
    return with_references(kept, reference).replace("\\[[", "[[")
