"""What is said beside a fact wherever it is served: how far to trust it, and whether something changed under it.

The reasons of facts: why something was decided, what taught it, why it replaced a fact, why it was withdrawn.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clawmem.model.facts.claim_check import failure_of
from clawmem.model.facts.fact import EXTERNAL, OUTSIDE_WARNING, RETRACTED, Fact, is_revoked
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


# Reasons that clawmem gives itself, not a person: parts of their words.
_OF_RULES = ("settles conflicts by `", "two machines", "on another machine", "condensed into one claim")
_REPLACING = ("supersedes", "merges")
_SAID = (("why", "Why"), ("because", "Because"))


def reasons_of(fact: Fact) -> Iterator[tuple[str, str]]:
    """Yield the reasons of a fact, each as a label and a text: why it was decided, what taught it, why it replaced
    another fact, why it was withdrawn, and each option that was not chosen, with the reason against it."""
    details = fact.details or {}
    for key, label in _SAID:
        if text := _text(details.get(key)):
            yield label, text
    if change := _reason_of_change(fact):
        yield "Because", change
    items = details.get("alternatives")
    for record in items if isinstance(items, list) else ():
        if isinstance(record, Mapping) and (option := _text(record.get("option"))):
            against = _text(record.get("why"))
            yield "Not chosen", f"{option}: {against}" if against else option


def because(fact: Fact) -> list[str]:
    """Return the reason that is told beside a fact wherever it is served, as `because ...`; empty if there is none."""
    items = [text for label, text in reasons_of(fact) if label != "Not chosen"] if _has_reasons(fact) else []
    if fact.status == RETRACTED:
        items.reverse()  # why it was withdrawn, before why it was decided
    return [f"because {' '.join(items[0].split()).rstrip('.')}"] if items else []


def searched_reasons(fact: Fact) -> list[str]:
    """Return the texts of all reasons of a fact, those of its links to other facts, too."""
    if not _has_reasons(fact):
        return []
    linked = [link.reason for link in fact.links if link.reason and not _is_of_rules(link.reason)]
    return [*(text for _, text in reasons_of(fact)), *linked]


def _has_reasons(fact: Fact) -> bool:
    return bool(fact.details or fact.links or fact.status == RETRACTED)


def _reason_of_change(fact: Fact) -> str:
    """Return why a person replaced or withdrew a fact; learned facts have only the reasons of the rules."""
    if fact.status == RETRACTED and not is_revoked(fact):
        remark = (fact.metadata or {}).get("retracted")
        return _text(remark.get("reason")) if isinstance(remark, Mapping) else ""
    if fact.source_event is not None:
        return ""
    generator = (link.reason for link in reversed(fact.links) if link.type in _REPLACING and link.reason)
    return next((reason for reason in generator if not _is_of_rules(reason)), "")


def _is_of_rules(reason: str) -> bool:
    return any(part in reason for part in _OF_RULES)


def _text(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""
