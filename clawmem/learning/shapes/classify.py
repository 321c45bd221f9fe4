"""What a clause says that is worth keeping: its category, predicate and object, or nothing."""

from __future__ import annotations

import re
from collections.abc import Callable

from clawmem.learning import grammar as g
from clawmem.learning import verbs
from clawmem.learning.shapes.belongings import is_somebody, owned, thing
from clawmem.learning.shapes.deeds import did
from clawmem.learning.shapes.habits import able, does
from clawmem.learning.shapes.shape import COMPLETE, Setting, Shape
from clawmem.learning.shapes.states import is_
from clawmem.learning.shapes.turns import ended, used_to, will
from clawmem.learning.shapes.undertakings import has_been_doing, is_doing
from clawmem.learning.words import (
    BORING,
    FREQUENCY,
    OCCUPATION,
    PRONOUN,
    VAGUE,
)

_Rule = Callable[[g.Reading, Setting], Shape | None]


def classify(reading: g.Reading, setting: Setting) -> Shape | None:
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


def _says_little(reading: g.Reading) -> bool:
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
