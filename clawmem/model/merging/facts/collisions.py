"""Resolve id collisions: of two different facts with one id, the newer one gets a longer id on its side."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from clawmem.model.facts.codec import fact_to_line
from clawmem.model.facts.fact import Fact
from clawmem.model.language.text import normal
from clawmem.model.merging.facts.table import FactsByPath, FiledFact, facts_by_id
from clawmem.model.merging.policy import OURS, THEIRS

_DIGITS = (16, 32, 64)


class RenamedId(NamedTuple):
    """A fact's old and new id on one side (`ours` or `theirs`)."""

    side: str
    old: str
    new: str


def collisions(base: FactsByPath, ours: FactsByPath, theirs: FactsByPath) -> Iterator[RenamedId]:
    """Yield the facts to rename, and on which side, so that each id names one fact."""
    known, mine, yours = facts_by_id(base), facts_by_id(ours), facts_by_id(theirs)
    taken = {*known, *mine, *yours}
    for fact_id in sorted((mine.keys() & yours.keys()) - known.keys()):
        other_fact, other = mine[fact_id].fact, yours[fact_id].fact
        if normal(other_fact.fact) == normal(other.fact):
            continue
        newer = OURS if _age(other_fact) > _age(other) else THEIRS
        fact = other_fact if newer == OURS else other
        longer = longer_id(fact, taken)
        taken.add(longer)
        yield RenamedId(newer, fact_id, longer)


def longer_id(fact: Fact, taken: set[str] | Mapping[str, FiledFact]) -> str:
    """Return a longer id, derived from the first record of a fact so that every machine computes the same one."""
    from hashlib import sha256  # collisions are rare

    seed = f"{fact.id}\0{fact.fact}\0{fact.timestamp}\0{fact.source_event or ''}"
    digest = sha256(seed.encode()).hexdigest()
    return next((name for size in _DIGITS if (name := f"fact_{digest[:size]}") not in taken), f"fact_{digest}")


def _age(fact: Fact) -> tuple[str, str]:
    return fact.timestamp, fact_to_line(fact)


def with_new_names(text: str, names: Mapping[str, str]) -> str:
    """Return the text with each whole id replaced by its new one."""
    if not names:
        return text
    wanted = "|".join(map(re.escape, names))
    return re.sub(rf"(?<![\w.:-])(?:{wanted})(?![\w:-])", lambda found: names[found[0]], text)
