"""What a repeated statement does to the fact that already says it: it grows surer and richer, and stays one."""

from __future__ import annotations

from clawmem.model.fact import Fact

SUREST = 0.99
STEP = 0.2


def reinforced(known: Fact, again: Fact) -> Fact:
    """The known fact after the same was said again: confidence a fifth closer to 1, what was missing filled in."""
    filled = {
        name: getattr(again, name)
        for name in ("subject", "predicate", "object", "relation_phrase", "valid_from", "valid_to")
        if getattr(known, name) is None and getattr(again, name) is not None
    }
    if known.source_event is None and again.source_event is not None:
        filled.update(source_event=again.source_event, source_text=again.source_text, source_span=again.source_span)
    return known._replace(
        confidence=raised(known.confidence),
        importance=_higher(known.importance, again.importance),
        tags=tuple(dict.fromkeys(known.tags + again.tags)),
        related_entities=tuple(dict.fromkeys(known.related_entities + again.related_entities)),
        **filled,
    )


def raised(confidence: float | None) -> float | None:
    """A confidence after one more source; one that was never given stays so."""
    if confidence is None or confidence >= SUREST:
        return confidence
    return min(SUREST, round(confidence + (1 - confidence) * STEP, 3))


def _higher(one: float | None, other: float | None) -> float | None:
    return max((value for value in (one, other) if value is not None), default=None)
