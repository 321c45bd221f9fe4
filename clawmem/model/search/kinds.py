"""Kinds of things that facts are about, by their names in several languages and by examples: `job` names a fact that
somebody works as a teacher, and `Wohnort` the fact where somebody lives."""

from __future__ import annotations

import json
from functools import cache, lru_cache
from typing import Any, cast

from clawmem.model.language.text import normal
from clawmem.model.search.meant import same_word

SAME, RELATED, EXAMPLE = 1.0, 0.8, 0.7
# Two examples of a kind tell two things apart: a red bicycle is not the blue one.
CONTRARY = -1.0
# So many letters in common are one root: `allergy` and `allergic`.
_ROOT = 5
_ROOT_PART = 0.6
_OTHERS = frozenset(
    "family mother father sister brother wife husband partner child son daughter friend boss mentor colleague".split()
)


@cache
def _kinds() -> dict[str, dict[str, bool]]:
    """Return the kinds of each word, and whether it is a name of the kind, and not only an example."""
    loader = cast(Any, __spec__).loader
    rows = json.loads(loader.get_data(__file__.replace("kinds.py", "kinds.json")))
    found: dict[str, dict[str, bool]] = {}
    for kind, columns in rows.items():
        for is_name, column in ((False, columns[1]), (True, columns[0])):
            for word in column.split():
                found.setdefault(word, {})[kind] = is_name
    return found


def kinds_of(word: str) -> dict[str, bool]:
    """Return the kinds of a word, in any case, in the plural and the genitive, and whether it is a name of each."""
    text = normal(word)
    bare = text.removesuffix("s")
    return _kinds().get(text) or _kinds().get(bare) or _kinds().get(bare.removesuffix("e")) or {}


def names_somebody(word: str) -> bool:
    """Return whether a word says who somebody is to another, such as `sister`."""
    return not _OTHERS.isdisjoint(kinds_of(word))


@lru_cache(maxsize=1 << 16)
def closeness(word: str, other: str) -> float | None:
    """Return how near two words are, from 0 to 1; None if that is not known, and CONTRARY for `cat` and `dog`."""
    text, two = normal(word), normal(other)
    if text == two or same_word(word, other):
        return SAME
    ours, theirs = kinds_of(word), kinds_of(other)
    shared = ours.keys() & theirs.keys()
    if any(ours[kind] and theirs[kind] for kind in shared):
        return RELATED
    if any(ours[kind] or theirs[kind] for kind in shared):
        return EXAMPLE
    if ours and theirs:
        return CONTRARY if shared else 0.0
    least = max(_ROOT, round(_ROOT_PART * max(len(text), len(two))))
    is_root = (
        text[:least] == two[:least] and text.isalpha() and two.isalpha() and not (word.istitle() and other.istitle())
    )
    return RELATED if is_root else None
