"""Classify the future, former habits, and endings."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import date

from clawmem.learning.english import grammar as g
from clawmem.learning.english import verbs
from clawmem.learning.english.words import (
    APPOINTMENT,
    VAGUE,
)
from clawmem.learning.rules.shapes.shape import ClauseContext, ClauseShape
from clawmem.learning.rules.shapes.states import classify_state
from clawmem.model.language.date_words import DateMatch

_OVER = re.compile(
    r"(?:got|was|am|have been|been) (?:laid off|fired|let go|made redundant)|(?:have )?(?:lost|quit|left) my job|"
    r"(?:have )?resigned"
)
# The job before the present one ended longer ago, as a rule.
_RECENT = 31  # days


def classify_future(reading: g.ParsedClause, setting: ClauseContext) -> ClauseShape | None:
    """Classify a clause about the future."""
    rest = reading.rest.rstrip(" .!,")
    if reading.negated or reading.lemma in verbs.IDLE or not rest:
        return None
    sure = " going to " in f" {reading.verb} " or reading.verb.startswith("will be ") or setting.dated
    known = reading.lemma in verbs.MILESTONES | verbs.EVENTS | {"have", "be"}
    if not (sure and known and setting.specific) and not (
        sure and reading.lemma in ("adopt", "marry", "move", "retire", "become")
    ):
        return None
    if setting.chat and reading.lemma in ("reach", "check", "look", "test", "try", "see", "send", "share", "contact"):
        return None
    if reading.lemma == "be" and not APPOINTMENT.search(rest):
        return None
    return ClauseShape("plan", "plans_to", f"{reading.lemma} {rest}", 0.55, 0.75)


def classify_former(reading: g.ParsedClause, setting: ClauseContext) -> ClauseShape | None:
    """Classify a clause with "used to"."""
    rest = reading.rest.rstrip(" .!,")
    if (
        reading.lemma in verbs.IDLE
        or (reading.lemma not in verbs.HABITS and reading.lemma not in ("be", "love", "like"))
        or not rest
    ):
        return None
    return ClauseShape("fact", None, f"used to {reading.lemma} {rest}", 0.5, 0.75)


def classify_ending(reading: g.ParsedClause) -> ClauseShape | None:
    """Classify a clause with "no longer"."""
    rest = re.sub(r"(?<!\s)\s*+\b(?:anymore|any more|any longer)\b.*", "", reading.rest).rstrip(" .!,")
    if not rest or VAGUE.match(rest):
        return None
    if reading.lemma == "work" and re.match(r"(?:at|for) ", rest):
        return ClauseShape("status", "works_at", rest.split(" ", 1)[1], 0.75, 0.85, ended=True)
    if reading.lemma == "live" and re.match(r"in ", rest):
        return ClauseShape("status", "lives_in", rest[3:], 0.75, 0.85, ended=True)
    if reading.lemma in ("use", "own", "speak", "take"):
        predicate = {"use": "uses", "own": "owns", "speak": "speaks", "take": "takes"}[reading.lemma]
        return ClauseShape("status", predicate, rest, 0.65, 0.8, ended=True)
    if reading.lemma in ("want", "plan", "intend", "hope"):
        what = re.sub(r"^(?:to|on) ", "", rest)
        return ClauseShape(
            "plan", "wants" if reading.lemma in ("want", "hope") else "plans_to", what, 0.6, 0.8, ended=True
        )
    if reading.lemma == "go" and re.match(r"(?:to|on) \w", rest):
        return ClauseShape("plan", "plans_to", f"go {rest}", 0.6, 0.8, ended=True)
    if reading.lemma in ("date", "see") and rest[:1].isupper():
        return ClauseShape("status", "partner", rest, 0.7, 0.8, ended=True)
    if reading.lemma in verbs.LIKING:
        return ClauseShape("preference", verbs.LIKING[reading.lemma], rest, 0.6, 0.8, ended=True)
    if reading.lemma in ("eat", "drink"):
        return ClauseShape("preference", "dislikes", rest, 0.7, 0.75)
    if reading.lemma in ("play", "do", "practice", "collect"):
        return ClauseShape("status", "hobby", rest, 0.6, 0.75, ended=True)
    if reading.lemma == "be":
        shape = classify_state(
            reading._replace(ended=False, negated=False, rest=rest), ClauseContext(True, False, False)
        )
        return shape._replace(ended=True) if shape and shape.predicate else None
    return None


def lost_job(
    shape: ClauseShape, reading: g.ParsedClause, words: str, dates: Iterable[DateMatch], said: date
) -> ClauseShape:
    """Return the shape as the end of the current job, if the job was lost in the last days ("I got laid off")."""
    told = reading.person == g.SELF and shape.predicate is None and not reading.negated
    if not told or not _OVER.fullmatch(f"{reading.verb} {reading.rest}".rstrip(" .!,")):
        return shape
    days = [(said - date.fromisoformat(found.day)).days for found in dates if found.day]
    recent = all(0 <= ago <= _RECENT for ago in days) if days else re.search(r"\bjust\b", words) is not None
    return shape._replace(predicate="works_at", object=None, ended=True) if recent else shape
