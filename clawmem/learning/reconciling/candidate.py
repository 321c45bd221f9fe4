"""The candidate: a proposition and its outcome, with the step that decided and the reason."""

from __future__ import annotations

from typing import NamedTuple

from clawmem.model.facts.fact import Fact
from clawmem.model.proposals.proposition import Proposition

ADDED, NOOP, UPDATED, MERGED, RETRACTED = "added", "noop", "updated", "merged", "retracted"
NOTED, PROPOSED, REFUSED = "noted", "proposed", "refused"
OUTCOMES = (ADDED, UPDATED, MERGED, RETRACTED, NOOP, NOTED, PROPOSED, REFUSED)
KEPT = frozenset((ADDED, UPDATED, MERGED, RETRACTED))


class LearningCandidate(NamedTuple):
    """The outcome of one proposition.

    `gate` is the step that decided: evidence, statement, limit, secrets, trust, utility, durability, duplication,
    reconcile, placement or review. `proposal` is the id of the proposal that waits for a person.
    """

    proposition: Proposition
    outcome: str
    gate: str
    reason: str
    fact: Fact | None = None
    entity: str | None = None
    proposal: str | None = None
