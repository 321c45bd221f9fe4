"""Two different facts that got the same id on two machines: the newer one is given a longer id on its side."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from clawmem.model.facts.codec import fact_to_line
from clawmem.model.facts.fact import Fact
from clawmem.model.language.text import normal
from clawmem.model.merging.facts.table import FiledFact, Shelves, table
from clawmem.model.merging.policy import OURS, THEIRS

_DIGITS = (16, 32, 64)


class RenamedId(NamedTuple):
    """A fact's old and new id on one side (`ours` or `theirs`)."""

    side: str
    old: str
    new: str


def collisions(base: Shelves, ours: Shelves, theirs: Shelves) -> Iterator[RenamedId]:
    """What must be renamed, and on which side, so that no id means two facts."""
    known, mine, yours = table(base), table(ours), table(theirs)
    taken = {*known, *mine, *yours}
    for fact_id in sorted((mine.keys() & yours.keys()) - known.keys()):
        one, other = mine[fact_id].fact, yours[fact_id].fact
        if normal(one.fact) == normal(other.fact):
            continue
        newer = OURS if _age(one) > _age(other) else THEIRS
        fact = one if newer == OURS else other
        longer = longer_id(fact, taken)
        taken.add(longer)
        yield RenamedId(newer, fact_id, longer)


def longer_id(fact: Fact, taken: set[str] | Mapping[str, FiledFact]) -> str:
    """A longer id made from what was recorded first of a fact, so that every machine finds the same one."""
    from hashlib import sha256  # two facts seldom meet under one id

    told = f"{fact.id}\0{fact.fact}\0{fact.timestamp}\0{fact.source_event or ''}"
    digest = sha256(told.encode()).hexdigest()
    return next((name for size in _DIGITS if (name := f"fact_{digest[:size]}") not in taken), f"fact_{digest}")


def _age(fact: Fact) -> tuple[str, str]:
    return fact.timestamp, fact_to_line(fact)


def with_new_names(text: str, names: Mapping[str, str]) -> str:
    """The text with whole ids replaced."""
    if not names:
        return text
    wanted = "|".join(map(re.escape, names))
    return re.sub(rf"(?<![\w.:-])(?:{wanted})(?![\w:-])", lambda found: names[found[0]], text)
