"""Identifiers of facts: `fact_` and 8 random hex digits, more of them after a collision."""

from __future__ import annotations

import re
from collections.abc import Callable, Container

from clawmem.errors import InvalidInput

Entropy = Callable[[int], bytes]
"""A source of random bytes: takes a number and returns that many bytes."""

FACT_PREFIX = "fact_"
PROPOSAL_PREFIX = "prop_"
SHORTEST_ID_BYTES = 4
LONGEST_ID_BYTES = 32
SHORTEST_PREFIX = 4
_FACT_ID = r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}"


def new_fact_id(entropy: Entropy, taken: Container[str]) -> str:
    """Return a new fact id that is not in `taken`; each collision doubles the number of digits, up to 64."""
    return new_id(FACT_PREFIX, entropy, taken)


def new_id(prefix: str, entropy: Entropy, taken: Container[str]) -> str:
    """Return the prefix and 8 random hex digits; each collision with `taken` doubles the digits, up to 64."""
    size = SHORTEST_ID_BYTES
    while True:
        candidate = prefix + entropy(size).hex()
        if candidate not in taken:
            return candidate
        size = min(size * 2, LONGEST_ID_BYTES)


def is_reference(text: str) -> bool:
    """Return whether a text from the command line can be an id or its prefix."""
    return re.fullmatch(_FACT_ID, text.strip()) is not None


def check_reference(text: str) -> str:
    """Return a fact id or prefix from the command line. Raise InvalidInput if it cannot be one."""
    return _reference(text, "a fact id", "Ids look like fact_1a2b3c4d; `clawmem list` shows them.")


def check_proposal_reference(text: str) -> str:
    """Return a proposal id or prefix from the command line. Raise InvalidInput if it cannot be one."""
    return _reference(text, "a proposal id", "Ids look like prop_1a2b3c4d; `clawmem review list --all` shows them.")


def _reference(text: str, what: str, hint: str) -> str:
    reference = text.strip()
    if not re.fullmatch(_FACT_ID, reference):
        raise InvalidInput(f"'{text}' is not {what}.", hint)
    return reference


def check_prefix(value: str, prefix: str, full_id: str, kind: str = "") -> str:
    """Return the full id that a prefix stands for. Raise InvalidInput if the prefix is too short to mean one id.

    `given` is what the user wrote, and `prefix` the same with the word `kind` that ids of this kind start with. The
    `SHORTEST_PREFIX` characters count behind that word. A complete id is never too short."""
    word = kind if full_id.startswith(kind) else ""
    if prefix != full_id and len(prefix) - len(word) < SHORTEST_PREFIX:
        behind = f" behind '{word}'" if word else ""
        raise InvalidInput(
            f"'{value}' is too short for a prefix of an id.",
            f"Give the whole id, {full_id}, or at least {SHORTEST_PREFIX} characters of it{behind}.",
        )
    return full_id
