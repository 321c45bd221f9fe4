"""Text that gives instructions to a model. What is learned from it needs the approval of a person."""

from __future__ import annotations

from collections.abc import Sequence

from clawmem.learning.attribution.quotations import Span
from clawmem.learning.attribution.quoted import unclear_author_signs
from clawmem.model.facts.trust import EXTERNAL, is_low_trust, least_trust
from clawmem.model.proposals.proposition import Proposition
from clawmem.model.proposals.quarantine import orders_in_text
from clawmem.model.records.event import Event, is_from_outside, is_told_by_agent, trust_limit
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
        return tuple(one._replace(trust=EXTERNAL, doubt="its text gives instructions to a model") for one in found)
    unclear = unclear_author_signs(event.text) if event.role == "user" else []
    return tuple(_limited(one, event, _sign_at(one, unclear)) for one in found)


def _sign_at(one: Proposition, unclear: Sequence[tuple[Span, str]]) -> str | None:
    """Return why the words of a proposition may be another's, or None."""
    first, last = one.span
    return next((sign for (start, end), sign in unclear if start < last and first < end), None)


def _limited(one: Proposition, event: Event, sign: str | None) -> Proposition:
    trust, doubt = _trust_of(one.trust, event), one.doubt
    if trust == EXTERNAL and not doubt:
        doubt = "its event came from outside the conversation"
    if trust == "user" and sign:
        trust, doubt = EXTERNAL, sign
    if is_low_trust(trust) and orders_in_text(one.source_text, outside=True):
        trust, doubt = EXTERNAL, "its words are an order"
    return one._replace(trust=trust, doubt=doubt)


def _trust_of(earned: str, event: Event) -> str:
    """Return the trust earned by the role, limited by the origin of the event; what an agent tells has `agent`."""
    return least_trust(earned, trust_limit(event), "agent" if is_told_by_agent(event) else None) or earned
