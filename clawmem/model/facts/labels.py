"""What is said beside a fact wherever it is served: how far to trust it, and whether something changed under it."""

from __future__ import annotations

from clawmem.model.facts.claim_check import failure_of
from clawmem.model.facts.fact import Fact
from clawmem.model.facts.reasons import because
from clawmem.model.facts.trust import EXTERNAL, OUTSIDE_WARNING
from clawmem.model.lifecycle.premises import REVIEW_BY, deprecation, doubt_words, review_words
from clawmem.model.proposals.quarantine import is_approved

UNREVIEWED = "agent, unreviewed"
CHECK_FAILED = "its check failed"


def trust_label(fact: Fact) -> str | None:
    """Return the trust of a fact in words, or None for a fact of the user.

    What an agent stored is `unreviewed` until a person approves or confirms it."""
    if fact.trust == EXTERNAL:
        return OUTSIDE_WARNING
    if fact.trust == "agent":
        return "agent" if is_approved(fact) else UNREVIEWED
    return fact.trust if fact.trust not in (None, "user") else None


def trust_words(fact: Fact) -> str:
    """Return where a fact comes from and how far to trust it, such as `from user` or `from outside, unverified`."""
    label = trust_label(fact) or "user"
    return label if label.startswith("from ") else f"from {label}"


def change_labels(fact: Fact) -> list[str]:
    """Return remarks on what changed under a fact: its premises, its own end, its day for review, or a failed check."""
    replaced = deprecation(fact) if fact.metadata else None
    doubt = doubt_words(fact) if fact.metadata else None
    return [
        *([f"deprecated, until {replaced[1]}: now {replaced[0]}"] if replaced else []),
        *([doubt] if doubt else []),
        *([review_words(fact)] if fact.details and REVIEW_BY in fact.details else []),
        *([CHECK_FAILED] if fact.metadata and failure_of(fact) else []),
    ]


def labels(fact: Fact) -> list[str]:
    """Return all labels of a fact, the trust first and its reason last."""
    trust = trust_label(fact)
    return [*([trust] if trust else []), *change_labels(fact), *because(fact)]
