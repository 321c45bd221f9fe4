"""Text that speaks to a model instead of a person: what is learned from it is not trusted without a person."""

from __future__ import annotations

from clawmem.model.event import Event
from clawmem.model.injection import Injection, find_injection
from clawmem.model.proposition import Proposition
from clawmem.model.quarantine import orders_in_text
from clawmem.model.trust import is_low


def commands_a_model(text: str) -> bool:
    """Whether a text tries to give orders to a model that reads it, as no honest text does."""
    return find_injection(text, forged_only=True) is not None


def orders_in(event: Event) -> Injection | None:
    """The orders to a machine in an event: of any kind where a tool speaks, else only those that are forged, for a
    person may say how to be served."""
    return find_injection(event.text, forged_only=not speaks_as_tool(event))


def as_trusted(event: Event, found: tuple[Proposition, ...]) -> tuple[Proposition, ...]:
    """What was read in an event: none of it trusted where the event gives orders to a machine, and of a tool's words
    only what tells something."""
    if not found:
        return found
    if orders_in(event) is not None:
        return tuple(one._replace(trust="external") for one in found)
    return tuple(
        one._replace(trust="external") if is_low(one.trust) and orders_in_text(one.source_text, outside=True) else one
        for one in found
    )


def speaks_as_tool(event: Event) -> bool:
    """Whether the text of an event comes from a program and not from somebody who takes part."""
    return event.role == "tool" or event.kind in ("tool_call", "tool_result")
