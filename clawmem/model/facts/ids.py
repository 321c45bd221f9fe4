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


def check_reference(text: str) -> str:
    """Return a fact id or prefix from the command line. Raise InvalidInput if it cannot be one."""
    reference = text.strip()
    if not re.fullmatch(_FACT_ID, reference):
        raise InvalidInput(f"'{text}' is not a fact id.", "Ids look like fact_1a2b3c4d; `clawmem list` shows them.")
    return reference
