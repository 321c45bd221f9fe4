"""The priority of a fact for a task: importance and reported outcomes, recency, words in common, value per token."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from clawmem.model.facts.fact import Fact, importance_of
from clawmem.model.facts.reach import FRAMEWORK, ORGANISATION, PROJECT, TEAM, scope_of
from clawmem.model.named_tuple import NamedTuple

# A report that a fact was useful raises its priority by a fifth; a harmful fact loses half at once.
_WORTH = {"useful": 0.2, "useless": -0.25, "harmful": -0.5}
_LOWEST, _HIGHEST = 0.1, 2.0
_BY_SCOPE = {PROJECT: 1.0, TEAM: 0.9, FRAMEWORK: 0.8, ORGANISATION: 0.7, None: 0.6}
# Lessons and decisions stay useful for months: their recency halves in this number of days, down to a floor.
HALF_LIFE_DAYS = 120.0
_OLDEST = 0.4
# What a fact without a word of the task is worth beside one with all of them.
_NO_MATCH = 0.2
# A line of this number of tokens has the value 1 per token; the root keeps short lines from winning alone.
_LINE = 25
_EACH_PASS = 0.6


class PriorityFactors(NamedTuple):
    """What a priority is the product of: importance with reported outcomes and scope, recency, match with the task,
    value per token, and the pass in which the fact was found."""

    priority: float
    recency: float
    match: float
    value: float
    passed: float

    @property
    def score(self) -> float:
        """Return the product."""
        return self.priority * self.recency * self.match * self.value * self.passed


def reported_outcomes(fact: Fact) -> dict[str, int]:
    """Return how often sessions reported each outcome of a fact."""
    held: Any = (fact.metadata or {}).get("outcomes")
    return {key: held[key] for key in _WORTH if isinstance(held.get(key), int)} if isinstance(held, Mapping) else {}


def priority_factors(fact: Fact, days: float, match: float, tokens: int, at_pass: int) -> PriorityFactors:
    """Return the factors of a fact.

    `days` is its age since it was recorded or last accessed, `match` the part of the task's words that it has (0 to 1),
    `tokens` the size of its line, and `at_pass` the pass that found it, from 1."""
    worth = 1.0 + sum(_WORTH[key] * number for key, number in reported_outcomes(fact).items())
    worth = min(_HIGHEST, max(_LOWEST, worth))
    return PriorityFactors(
        (0.5 + importance_of(fact)) * worth * _BY_SCOPE.get(scope_of(fact), _BY_SCOPE[None]),
        max(_OLDEST, 0.5 ** (max(days, 0.0) / HALF_LIFE_DAYS)),
        _NO_MATCH + (1 - _NO_MATCH) * match,
        (_LINE / max(tokens, 1)) ** 0.5,
        _EACH_PASS ** (at_pass - 1),
    )
