"""Compare a claim with a fact: whether they belong together, say the same, or differ in a value."""

from __future__ import annotations

import re
from typing import NamedTuple

from clawmem.model.language.irregular import forms_of
from clawmem.model.language.question import search_words
from clawmem.model.language.text import normal

SAME, UPDATES, SUPPORTS, RELATES = "same", "updates", "supports", "relates_to"
# The part of the words that two statements share if they are about one thing, and if one repeats the other.
RELATED_FROM, REPEATED_FROM = 0.4, 0.75
_NUMBER = re.compile(r"(?<![\w.])\d+(?:[.,:]\d+)*")


class ClaimRelation(NamedTuple):
    """What a claim is to a fact, with the reason in words."""

    kind: str
    reason: str


def relation_of(claim: str, fact: str) -> ClaimRelation | None:
    """Return what a claim is to a fact: `same`, `updates` (the same words with another number), `supports` (nearly the
    same words), `relates_to`, or None if they have little in common."""
    if normal(claim) == normal(fact):
        return ClaimRelation(SAME, "it says the same")
    mine, its = _words(claim), _words(fact)
    shared = sum(not forms.isdisjoint(set().union(*its) if its else ()) for forms in mine)
    if not mine or not its:
        return None
    part = shared / max(len(mine), len(its))
    new, old = _NUMBER.findall(claim), _NUMBER.findall(fact)
    if part >= REPEATED_FROM and new and old and len(new) == len(old) and new != old:
        changes = ", ".join(
            f"{before} became {after}" for before, after in zip(old, new, strict=True) if before != after
        )
        return ClaimRelation(UPDATES, f"the same statement with another value: {changes}")
    if part >= REPEATED_FROM and new == old:
        return ClaimRelation(SUPPORTS, "it says nearly the same in other words")
    if part >= RELATED_FROM or shared >= 3:
        return ClaimRelation(RELATES, "both are about the same thing")
    return None


def _words(text: str) -> list[set[str]]:
    return [set(forms_of(word)) for word in search_words(text) if not word[0].isdigit()]
