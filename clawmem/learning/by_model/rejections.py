"""Dropped facts of an answer as candidates, so that reports show them with the reason."""

from __future__ import annotations

from clawmem.learning.by_model.answers import DroppedFact
from clawmem.learning.by_model.task import ReadingTask
from clawmem.learning.reconciling.candidate import REFUSED, LearningCandidate
from clawmem.model.proposals.proposition import Proposition

GATE = "grounding"


def refused_candidate(one: DroppedFact, task: ReadingTask) -> LearningCandidate:
    """Return a dropped fact as a refused candidate with its reason."""
    event = task.shown[one.number].event.id if one.number is not None else ""
    proposition = Proposition(one.statement or "(no statement)", event, (0, 0), one.quote)
    return LearningCandidate(proposition, REFUSED, GATE, f"{one.says[:1].upper()}{one.says[1:]}.")
