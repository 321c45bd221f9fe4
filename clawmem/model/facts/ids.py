"""Identifiers: `fact_` and 8 hex digits at random; longer where that one is taken."""

from __future__ import annotations

import re
from collections.abc import Callable, Container

from clawmem.errors import InvalidInput

Entropy = Callable[[int], bytes]
"""A source of random bytes: given a count, returns that many."""

FACT_PREFIX = "fact_"
PROPOSAL_PREFIX = "prop_"
SHORTEST = 4
LONGEST = 32
_FACT_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:-]{0,127}")


def new_fact_id(entropy: Entropy, taken: Container[str]) -> str:
    """A fresh fact id that is not in `taken`; each collision doubles the digits up to 32."""
    size = SHORTEST
    while True:
        candidate = FACT_PREFIX + entropy(size).hex()
        if candidate not in taken:
            return candidate
        size = min(size * 2, LONGEST)


def check_reference(text: str) -> str:
    """A fact id or prefix as given on the command line; raises InvalidInput where it cannot be one."""
    reference = text.strip()
    if not _FACT_ID.fullmatch(reference):
        raise InvalidInput(f"'{text}' is not a fact id.", "Ids look like fact_1a2b3c4d; `clawmem list` shows them.")
    return reference
