"""What a clause says that is worth keeping: its category, predicate and object, or nothing."""

from __future__ import annotations

import re
from collections.abc import Callable

from clawmem.learning.english import grammar as g
from clawmem.learning.english import verbs
from clawmem.learning.english.words import (
    BORING,
    FREQUENCY,
    OCCUPATION,
    PRONOUN,
    VAGUE,
)
from clawmem.learning.rules.shapes.belongings import is_somebody, owned, thing
from clawmem.learning.rules.shapes.deeds import did
from clawmem.learning.rules.shapes.habits import able, does
from clawmem.learning.rules.shapes.shape import COMPLETE, ClauseContext, ClauseShape
from clawmem.learning.rules.shapes.states import is_
from clawmem.learning.rules.shapes.turns import ended, used_to, will
from clawmem.learning.rules.shapes.undertakings import has_been_doing, is_doing

_Rule = Callable[[g.ParsedClause, ClauseContext], ClauseShape | None]


def classify(reading: g.ParsedClause, setting: ClauseContext) -> ClauseShape | None:
    """The shape of a clause, or None where it says nothing that lasts."""
    if reading.person == g.THING:
        return thing(reading, setting)
    if reading.person == g.MINE:
        attribute = owned(reading, setting)
        if attribute or not is_somebody(reading.subject):
            return attribute
    if reading.ended:
        return ended(reading)
    if _says_little(reading):
        return None
    shape = _RULES[reading.aspect](reading, setting) if reading.aspect in _RULES else None
    if shape and reading.negated and not shape.predicate and not reading.never:
        return None
    return shape


def _says_little(reading: g.ParsedClause) -> bool:
    """Whether what follows the verb is vague, points at something not named, or is too general."""
    rest = reading.rest
    if reading.lemma == "be" and re.match(r"going by ", rest):
        return True
    if VAGUE.match(rest) and reading.lemma not in _TELLING and not (reading.lemma == "be" and OCCUPATION.search(rest)):
        return True
    if PRONOUN.match(_REASON.split(rest)[0]) and not _HIS.search(reading.person + rest):
        return True
    general = BORING.match(FREQUENCY.sub("", rest).rstrip(" .!,")) is not None
    short = reading.lemma not in verbs.MILESTONES or len(rest.split()) < 3
    return general and short and reading.lemma not in COMPLETE


_REASON = re.compile(r" (?:because|since|so that|so|as|which|who|where|until) ")
_TELLING = frozenset(("learn", "decide", "pass"))
_HIS = re.compile(r"^(?:mine|name)(?!.*\b(?:it|them|they|its|their)\b)")


_RULES: dict[str, _Rule] = {
    g.BE: is_,
    g.BEEN: is_,
    verbs.PRESENT: does,
    verbs.PAST: did,
    g.HAVE_DONE: did,
    g.DOING: is_doing,
    g.BEEN_DOING: has_been_doing,
    g.FUTURE: will,
    g.USED_TO: used_to,
    g.ABLE: able,
}
