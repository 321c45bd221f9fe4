"""Reinforcement: a repeated statement makes the known fact more certain and fills its gaps."""

from __future__ import annotations

from math import prod
from typing import Any

from clawmem.model.facts.fact import DEFAULT_CATEGORY, Fact, is_given_by_person, with_evidence_of

HIGHEST_CONFIDENCE = 0.99
STEP = 0.2
_FILLED = (
    "subject", "predicate", "object", "relation_phrase", "valid_from", "valid_to", "workflow", "details", "metadata",
    "confidence",
)  # fmt: skip
_JOINED = ("tags", "related_entities", "links")
_REPORTED = ("category", *_FILLED, "source_event", "importance", *_JOINED)


def reinforce(known: Fact, again: Fact) -> Fact:
    """Return the known fact after a repetition: confidence a fifth closer to 1, missing values filled in.

    Of what no person stated, the event of the repetition is kept as further evidence: it may confirm the fact."""
    filled: dict[str, Any] = {
        name: getattr(again, name)
        for name in _FILLED
        if getattr(known, name) is None and getattr(again, name) is not None
    }
    if known.category == DEFAULT_CATEGORY:
        filled["category"] = again.category
    if known.source_event is None and again.source_event is not None:
        filled.update(source_event=again.source_event, source_text=again.source_text, source_span=again.source_span)
    there = {(link.type, link.to) for link in known.links}
    added = tuple(link for link in again.links if (link.type, link.to) not in there)
    richer = known._replace(
        **{"confidence": raised_confidence(known.confidence), **filled},
        importance=max((value for value in (known.importance, again.importance) if value is not None), default=None),
        tags=tuple(dict.fromkeys(known.tags + again.tags)),
        related_entities=tuple(dict.fromkeys(known.related_entities + again.related_entities)),
        links=known.links + added,
    )
    of_person = known.trust == "user" or is_given_by_person(known)
    return richer if of_person else with_evidence_of(richer, again)


def changed_fields(known: Fact, after: Fact) -> list[str]:
    """Return the names of the fields that changed, with short values; a higher confidence is not listed."""
    changed = (name for name in _REPORTED if getattr(after, name) != getattr(known, name))
    return [_field(name, getattr(after, name)) for name in changed if name != "confidence" or known.confidence is None]


def ignored_fields(again: Fact, after: Fact) -> list[str]:
    """Return the fields of a repeated statement whose values the fact did not take over."""
    items = [name for name in _FILLED if name != "confidence" and getattr(again, name) is not None]
    items += ["category"] if again.category != DEFAULT_CATEGORY else []
    items += ["source_event"] if again.source_event else []
    return [_field(name, getattr(again, name)) for name in items if getattr(after, name) != getattr(again, name)]


def _field(name: str, value: Any) -> str:
    return f"{name} {value}" if isinstance(value, str | float) else name


def raised_confidence(confidence: float | None) -> float | None:
    """Return a confidence after one more source; None stays None."""
    if confidence is None or confidence >= HIGHEST_CONFIDENCE:
        return confidence
    return min(HIGHEST_CONFIDENCE, round(confidence + (1 - confidence) * STEP, 3))


def joint_confidence(*confidences: float | None) -> float | None:
    """Return the confidence of a merge of independent statements, `1 - (1 - a)(1 - b)...`, at most 0.99.

    Those without a confidence do not count; None if all are.
    """
    items = [confidence for confidence in confidences if confidence is not None]
    if len(items) < 2:
        return items[0] if items else None
    return max(*items, min(HIGHEST_CONFIDENCE, round(1 - prod(1 - value for value in items), 3)))
