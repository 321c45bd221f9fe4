"""Text that gives instructions to a model. What is learned from it needs the approval of a person."""

from __future__ import annotations

import re
from collections.abc import Sequence

from clawmem.learning.attribution.quoted import Span, unclear_author_signs
from clawmem.learning.attribution.sentences import THE_USER
from clawmem.model.facts.fact import EXTERNAL, is_low_trust, least_trust
from clawmem.model.language.text import normal
from clawmem.model.proposals.para import Proposition
from clawmem.model.proposals.quarantine import orders_in_text
from clawmem.model.records.event import Event, is_from_outside, is_told_by_agent, trust_limit
from clawmem.model.safety.injection.find import InjectionMatch, find_injection

# Somebody without a name who told the speaker something: "The allergist called: ...".
_TOLD = re.compile(
    r"\W*(?:the|my|our|der|die|mein\w*|unser\w*) (?:[\w-]+ ){1,2}"
    r"(?:called|says?|said|told|confirmed|wrote|texted|rang|phoned|thinks|hat|sagt|meint|schreibt|rief)\b[^:\n]{0,40}:",
    re.IGNORECASE,
)


def is_prompt_injection(text: str) -> bool:
    """Return whether a text contains forged instructions to a model, which no honest text contains."""
    return find_injection(text, forged_only=True) is not None


def injection_in(event: Event) -> InjectionMatch | None:
    """Return the injected instructions in an event, or None.

    Any instruction counts in content from tools or from outside. From a person only forged ones count, because a person
    may say how they want to be served.
    """
    return find_injection(event.text, forged_only=not is_from_outside(event))


def limit_trust(event: Event, found: tuple[Proposition, ...], by_reader: bool = False) -> tuple[Proposition, ...]:
    """Return the propositions with their trust limited by the source of the event.

    All of them become external if the event contains injected instructions. What a person reports of themself is their
    own word, whoever told them ("the allergist called: not allergic after all"), if a model or an agent read it so.
    """
    if not found:
        return found
    if injection_in(event) is not None:
        return tuple(
            proposition._replace(trust=EXTERNAL, doubt="its text gives instructions to a model")
            for proposition in found
        )
    unclear = unclear_author_signs(event.text) if event.role == "user" else []
    flag = by_reader and _TOLD.match(event.text) is not None
    return tuple(
        _limited(
            proposition, event, None if flag and _is_of_speaker(proposition, event) else _sign_at(proposition, unclear)
        )
        for proposition in found
    )


def _is_of_speaker(proposition: Proposition, event: Event) -> bool:
    return normal(proposition.subject or "") in (normal(event.speaker or ""), normal(THE_USER))


def _sign_at(proposition: Proposition, unclear: Sequence[tuple[Span, str]]) -> str | None:
    """Return why the words of a proposition may be another's, or None."""
    first, last = proposition.span
    return next((sign for (start, end), sign in unclear if start < last and first < end), None)


def _limited(proposition: Proposition, event: Event, sign: str | None) -> Proposition:
    trust, doubt = _trust_of(proposition.trust, event), proposition.doubt
    if trust == EXTERNAL and not doubt:
        doubt = "its event came from outside the conversation"
    if trust == "user" and sign:
        trust, doubt = EXTERNAL, sign
    if is_low_trust(trust) and orders_in_text(proposition.source_text, outside=True):
        trust, doubt = EXTERNAL, "its words are an order"
    return proposition._replace(trust=trust, doubt=doubt)


def _trust_of(earned: str, event: Event) -> str:
    """Return the trust earned by the role, limited by the origin of the event; what an agent tells has `agent`."""
    return least_trust(earned, trust_limit(event), "agent" if is_told_by_agent(event) else None) or earned
