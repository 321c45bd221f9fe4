"""Trust: how much the source of a statement counts against another one."""

from __future__ import annotations

# From the least to the most. A fact that says nothing of its source was written by hand or by an older layout.
_RANKS = {"external": 0, "tool": 1, "agent": 2, "user": 3}


def rank(trust: str | None) -> int:
    """How much a source counts, 0 to 3; one that is not named counts as the user."""
    return _RANKS.get(trust or "user", 0)


def is_low(trust: str | None) -> bool:
    """Whether what the source says may never replace what a user or an agent said without a person."""
    return rank(trust) <= _RANKS["tool"]
