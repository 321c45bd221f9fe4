"""What a repeated statement does to the fact that already says it: it grows surer and richer, and stays one."""

from __future__ import annotations

from typing import Any

from clawmem.model.facts.fact import DEFAULT_CATEGORY, Fact

SUREST = 0.99
STEP = 0.2
_FILLED = (
    "subject", "predicate", "object", "relation_phrase", "valid_from", "valid_to", "workflow", "details", "metadata",
    "confidence",
)  # fmt: skip
_JOINED = ("tags", "related_entities", "links")
_TOLD = ("category", *_FILLED, "source_event", "importance", *_JOINED)


def reinforced(known: Fact, again: Fact) -> Fact:
    """The known fact after the same was said again: confidence a fifth closer to 1, what was missing filled in."""
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
    return known._replace(
        **{"confidence": raised(known.confidence), **filled},
        importance=_higher(known.importance, again.importance),
        tags=tuple(dict.fromkeys(known.tags + again.tags)),
        related_entities=tuple(dict.fromkeys(known.related_entities + again.related_entities)),
        links=known.links + added,
    )


def taken_over(known: Fact, after: Fact) -> list[str]:
    """What a fact has now that it did not have, each with its value where that is short; being surer is not told."""
    changed = (name for name in _TOLD if getattr(after, name) != getattr(known, name))
    return [_told(name, getattr(after, name)) for name in changed if name != "confidence" or known.confidence is None]


def not_taken(again: Fact, after: Fact) -> list[str]:
    """What was said with a repeated statement and differs from what its fact keeps."""
    given = [name for name in _FILLED if name != "confidence" and getattr(again, name) is not None]
    given += ["category"] if again.category != DEFAULT_CATEGORY else []
    given += ["source_event"] if again.source_event else []
    return [_told(name, getattr(again, name)) for name in given if getattr(after, name) != getattr(again, name)]


def _told(name: str, value: Any) -> str:
    return f"{name} {value}" if isinstance(value, str | float) else name


def raised(confidence: float | None) -> float | None:
    """A confidence after one more source; one that was never given stays so."""
    if confidence is None or confidence >= SUREST:
        return confidence
    return min(SUREST, round(confidence + (1 - confidence) * STEP, 3))


def _higher(one: float | None, other: float | None) -> float | None:
    return max((value for value in (one, other) if value is not None), default=None)
