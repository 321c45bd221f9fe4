"""Text that speaks to a model instead of a person: what is learned from it is not trusted without a person."""

from __future__ import annotations

import re

_ORDERS = r"(?:instruction|prompt|rule|guideline|direction|message)s?\b"
_COMMANDS = re.compile(
    r"\b(?:ignore|disregard|forget|override|bypass) (?:\w+ ){0,2}(?:your|previous|prior|above|earlier|preceding) "
    rf"(?:\w+ ){{0,3}}{_ORDERS}"
    r"|\b(?:ignore|disregard|forget) (?:everything|anything|all) (?:\w+ ){0,3}(?:above|before|told|said|instructed)\b"
    rf"|\b(?:ignore|disregard|forget|override) (?:all|any) (?:of the )?(?:\w+ )?{_ORDERS}"
    r"|\byour (?:new |updated |real )?(?:system|developer) (?:prompt|message|instruction)s?\b"
    r"|^\W*(?:system|developer)(?: prompt| message| override)?\s*:\s*(?:you|ignore|override|new|from now)\b"
    r"|\byou are (?:now|no longer) (?:DAN\b|in \w+ mode|bound\b"
    r"|(?:an? )?(?:\w+ )?(?:AI|assistant|model|shell|terminal|root)\b)"
    r"|</?\s*events\s*>|<\|[a-z_]+\|>|\[/?INST\]",
    re.IGNORECASE | re.MULTILINE,
)


def commands_a_model(text: str) -> bool:
    """Whether a text tries to give orders to a model that reads it."""
    return _COMMANDS.search(text) is not None
