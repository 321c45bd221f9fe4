"""Text that gives instructions to a model. What is learned from it needs the approval of a person."""

from __future__ import annotations

from clawmem.learning.attribution.quoted import overlaps, unclear_author_spans
from clawmem.model.facts.trust import EXTERNAL, is_low_trust, least_trust
from clawmem.model.proposals.proposition import Proposition
from clawmem.model.proposals.quarantine import orders_in_text
from clawmem.model.records.event import Event, is_from_outside, trust_limit
from clawmem.model.safety.injection.find import InjectionMatch, find_injection


def is_prompt_injection(text: str) -> bool:
    """Return whether a text contains forged instructions to a model, which no honest text contains."""
    return find_injection(text, forged_only=True) is not None


def injection_in(event: Event) -> InjectionMatch | None:
    """Return the injected instructions in an event, or None.

    Any instruction counts in content from tools or from outside. From a person only forged ones count, because a person
    may say how they want to be served.
    """
    return find_injection(event.text, forged_only=not is_from_outside(event))


def limit_trust(event: Event, found: tuple[Proposition, ...]) -> tuple[Proposition, ...]:
    """Return the propositions with their trust limited by the source of the event.

    All of them become external if the event contains injected instructions.
    """
    if not found:
        return found
    if injection_in(event) is not None:
        return tuple(one._replace(trust="external") for one in found)
    unclear = unclear_author_spans(event.text) if event.role == "user" else []
    return tuple(_limited(one, event, overlaps(unclear, *one.span)) for one in found)


def _limited(one: Proposition, event: Event, is_unclear: bool) -> Proposition:
    trust = _trust_of(one.trust, event)
    if trust == "user" and is_unclear:
        trust = EXTERNAL
    ordering = is_low_trust(trust) and orders_in_text(one.source_text, outside=True)
    return one._replace(trust="external" if ordering else trust)


def _trust_of(earned: str, event: Event) -> str:
    """Return the trust earned by the role, limited by the origin of the event. An agent's own note gets `agent`."""
    own_note = event.role == "note" and event.agent is not None and earned == "user"
    return least_trust("agent" if own_note else earned, trust_limit(event)) or earned
