"""Classify a clause: category, predicate and object, or nothing."""

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
from clawmem.learning.rules.shapes.belongings import classify_belonging, classify_thing, is_person
from clawmem.learning.rules.shapes.deeds import classify_event
from clawmem.learning.rules.shapes.habits import classify_ability, classify_habit
from clawmem.learning.rules.shapes.shape import COMPLETE, ClauseContext, ClauseShape
from clawmem.learning.rules.shapes.states import classify_state
from clawmem.learning.rules.shapes.turns import classify_ending, classify_former, classify_future
from clawmem.learning.rules.shapes.undertakings import classify_ongoing, classify_undertaking

_Rule = Callable[[g.ParsedClause, ClauseContext], ClauseShape | None]


def classify(reading: g.ParsedClause, setting: ClauseContext) -> ClauseShape | None:
    """Return the shape of a clause, or None if it says nothing lasting."""
    if reading.person == g.THING:
        return classify_thing(reading, setting)
    if reading.person == g.MINE:
        attribute = classify_belonging(reading, setting)
        if attribute or not is_person(reading.subject):
            return attribute
    if reading.ended:
        return classify_ending(reading)
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
    g.BE: classify_state,
    g.BEEN: classify_state,
    verbs.PRESENT: classify_habit,
    verbs.PAST: classify_event,
    g.HAVE_DONE: classify_event,
    g.DOING: classify_undertaking,
    g.BEEN_DOING: classify_ongoing,
    g.FUTURE: classify_future,
    g.USED_TO: classify_former,
    g.ABLE: classify_ability,
}
