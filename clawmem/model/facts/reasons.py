"""The reasons that a decision or a lesson keeps in its details."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clawmem.model.facts.fact import Fact

_SAID = (("why", "Why"), ("because", "Because"))


def reasons_of(fact: Fact) -> Iterator[tuple[str, str]]:
    """Yield the reasons of a fact, each as a label and a text: why it was decided, what taught it, and each option that
    was not chosen, with the reason against it."""
    details = fact.details or {}
    for key, label in _SAID:
        if text := _text(details.get(key)):
            yield label, text
    held = details.get("alternatives")
    for one in held if isinstance(held, list) else ():
        if isinstance(one, Mapping) and (option := _text(one.get("option"))):
            against = _text(one.get("why"))
            yield "Not chosen", f"{option}: {against}" if against else option


def _text(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""
