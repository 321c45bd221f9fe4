"""The candidate: one proposition and what became of it, with the step that decided and its reason."""

from __future__ import annotations

from typing import NamedTuple

from clawmem.model.facts.fact import Fact
from clawmem.model.proposals.proposition import Proposition

ADDED, NOOP, UPDATED, MERGED, RETRACTED = "added", "noop", "updated", "merged", "retracted"
NOTED, PROPOSED, REFUSED = "noted", "proposed", "refused"
OUTCOMES = (ADDED, UPDATED, MERGED, RETRACTED, NOOP, NOTED, PROPOSED, REFUSED)
KEPT = frozenset((ADDED, UPDATED, MERGED, RETRACTED))


class LearningCandidate(NamedTuple):
    """One proposition's fate. `gate` is the step that decided: evidence, statement, limit, secrets, trust, utility,
    durability, duplication, reconcile, placement or review; `proposal` is the id of what waits for a person."""

    proposition: Proposition
    outcome: str
    gate: str
    reason: str
    fact: Fact | None = None
    entity: str | None = None
    proposal: str | None = None
