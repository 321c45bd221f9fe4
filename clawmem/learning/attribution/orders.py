"""Text that speaks to a model instead of a person: what is learned from it is not trusted without a person."""

from __future__ import annotations

from clawmem.learning.attribution.quoted import doubtful, touches
from clawmem.model.facts.trust import EXTERNAL, is_low, least
from clawmem.model.proposals.proposition import Proposition
from clawmem.model.proposals.quarantine import orders_in_text
from clawmem.model.records.event import Event, is_from_outside, trust_limit
from clawmem.model.safety.injection.find import InjectionMatch, find_injection


def commands_a_model(text: str) -> bool:
    """Whether a text tries to give orders to a model that reads it, as no honest text does."""
    return find_injection(text, forged_only=True) is not None


def orders_in(event: Event) -> InjectionMatch | None:
    """The orders to a machine in an event: of any kind where a tool or the outside speaks, else only those that are
    forged, for a person may say how to be served."""
    return find_injection(event.text, forged_only=not is_from_outside(event))


def as_trusted(event: Event, found: tuple[Proposition, ...]) -> tuple[Proposition, ...]:
    """What was read in an event, trusted as far as its source is: none of it where the event gives orders to a
    machine, and of the words of a tool or of the outside only what tells something."""
    if not found:
        return found
    if orders_in(event) is not None:
        return tuple(one._replace(trust="external") for one in found)
    unclear = doubtful(event.text) if event.role == "user" else []
    return tuple(_capped(one, event, touches(unclear, *one.span)) for one in found)


def _capped(one: Proposition, event: Event, is_doubtful: bool) -> Proposition:
    trust = _trust_of(one.trust, event)
    if trust == "user" and is_doubtful:
        trust = EXTERNAL
    ordering = is_low(trust) and orders_in_text(one.source_text, outside=True)
    return one._replace(trust="external" if ordering else trust)


def _trust_of(earned: str, event: Event) -> str:
    """The trust of what an event says, where its role would earn it that much: never more than what it comes from
    allows, and an agent's own notes are the agent's word."""
    own_note = event.role == "note" and event.agent is not None and earned == "user"
    return least("agent" if own_note else earned, trust_limit(event)) or earned
