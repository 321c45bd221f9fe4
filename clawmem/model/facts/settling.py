"""Conflict strategies: which of several facts that contradict each other wins."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from clawmem.model.facts.catalog import CONFIDENCE, NEWEST
from clawmem.model.facts.fact import Fact
from clawmem.model.facts.trust import trust_rank


class Settlement(NamedTuple):
    """The fact that wins a conflict (None if a person must decide), the strategy, and the reason as a clause."""

    winner: Fact | None
    strategy: str
    why: str


def settle(strategy: str, origin: str, facts: Sequence[Fact]) -> Settlement:
    """Return which fact wins by a strategy. `origin` says what sets the strategy, such as `lives_in`.

    A fact never wins against one of higher trust."""
    if strategy == NEWEST:
        winner, why = _newest(facts), f"it is the newest, and {origin} settles conflicts by `newest`"
        if winner is None:
            return Settlement(None, strategy, "no single fact is the newest")
    elif strategy == CONFIDENCE:
        winner = confident_winner(facts)
        if winner is None:
            return Settlement(None, strategy, "no single fact has the highest confidence")
        why = f"it has the highest confidence, {winner.confidence:g}, and {origin} settles conflicts by `confidence`"
    else:
        return Settlement(None, strategy, f"{origin} settles conflicts by `ask`")
    best = max(facts, key=lambda fact: trust_rank(fact.trust))
    if trust_rank(winner.trust) < trust_rank(best.trust):
        text = f"{winner.id} has the trust {winner.trust}, which is less than that of {best.id}"
        return Settlement(None, strategy, text)
    return Settlement(winner, strategy, why)


def confident_winner(facts: Sequence[Fact]) -> Fact | None:
    """Return the fact with the highest confidence, or None if a confidence is not known or two are equal."""
    sure = sorted(((fact.confidence, place) for place, fact in enumerate(facts) if fact.confidence is not None))
    if len(sure) < len(facts) or not sure or (len(sure) > 1 and sure[-1][0] == sure[-2][0]):
        return None
    return facts[sure[-1][1]]


def _newest(facts: Sequence[Fact]) -> Fact | None:
    """Return the fact that is true from the latest moment: the day it names, else when it was recorded.

    Of two with the same moment, the later one in `facts` is the newer."""
    moments = [(fact.valid_from or fact.timestamp, place) for place, fact in enumerate(facts)]
    return facts[max(moments)[1]] if moments else None
