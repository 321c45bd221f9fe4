"""The proposal: a change that waits for a person, as data that a person can read."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Any, NamedTuple

from clawmem.model.facts.catalog import Predicate
from clawmem.model.facts.fact import Fact
from clawmem.model.facts.ids import PROPOSAL_PREFIX, Entropy
from clawmem.model.language.text import normal

KINDS = ("fact", "conflict", "predicate", "promotion", "guardrail", "tacit")
OPEN, APPROVED, REJECTED = "open", "approved", "rejected"
STATES = (OPEN, APPROVED, REJECTED)

ADD, SUPERSEDE, MERGE, END = "add", "supersede", "merge", "end"
RETRACT, PREDICATE, LINE, PROMOTE = "retract", "predicate", "line", "promote"
DEEDS = (ADD, SUPERSEDE, MERGE, END, RETRACT, PREDICATE, LINE, PROMOTE)

PREFIX = PROPOSAL_PREFIX
FOLDER = "review"
_SHORTEST, _LONGEST = 4, 32


class ProposalTarget(NamedTuple):
    """A fact that the change falls on, and what it said when the proposal was made."""

    id: str
    fact: str


class CatalogEntry(NamedTuple):
    """A predicate to add to the catalog, or more phrases for one that is there; what it means, for people."""

    predicate: Predicate
    description: str


class PageLine(NamedTuple):
    """A line to put at the end of a page of the vault."""

    page: str
    text: str


class PromotionWorth(NamedTuple):
    """The day a fact is to be promoted for, and how it was judged then: the score, 0 to 1, and what speaks for it."""

    on: str
    score: float
    reasons: tuple[str, ...] = ()


class ReviewDecision(NamedTuple):
    """Who decided about a proposal, when, and why."""

    by: str
    at: str
    reason: str | None = None


class Proposal(NamedTuple):
    """One change that waits. `says` is the change in a sentence, `why` the reason for which it waits.

    `does` names the deed: add, supersede, merge or end (a fact, with `targets`), retract (the targets), predicate
    (`entry`), line (`line`), promote (for its `worth`, the one target, or a fact that was only noted before). The
    entity is None where it is to be found on approval.
    """

    id: str
    kind: str
    says: str
    why: str
    created: str
    does: str
    status: str = OPEN
    targets: tuple[ProposalTarget, ...] = ()
    fact: Fact | None = None
    entity: str | None = None
    title: str | None = None
    entry: CatalogEntry | None = None
    line: PageLine | None = None
    worth: PromotionWorth | None = None
    source_event: str | None = None
    agent: str | None = None
    decided: ReviewDecision | None = None
    extra: Mapping[str, Any] = {}


def new_proposal_id(entropy: Entropy, taken: Container[str]) -> str:
    """A fresh id, `prop_` and 8 hex digits; each collision doubles the digits up to 64."""
    size = _SHORTEST
    while True:
        candidate = PREFIX + entropy(size).hex()
        if candidate not in taken:
            return candidate
        size = min(size * 2, _LONGEST)


def proposal_path(proposal_id: str) -> str:
    """The vault path of a proposal."""
    return f"{FOLDER}/{proposal_id}.json"


def thing(does: str, fact: Fact) -> tuple[str, ...]:
    """What a change of facts is about: two that share it propose the same."""
    value = fact.object if fact.subject and fact.predicate and fact.object else fact.fact
    return ("end" if does == END else "", normal(fact.subject or ""), fact.predicate or "", normal(value))
