"""Choose the hits of a question that are worth showing without being asked for: those close to the best one."""

from collections.abc import Sequence
from typing import TypeVar

Found = TypeVar("Found")


def close_to_best(hits: Sequence[tuple[Found, float]], least: float) -> list[Found]:
    """Return the hits whose score is at least `least` times the best one's, in their order."""
    best = max((score for _, score in hits), default=0.0)
    return [found for found, score in hits if score >= least * best]
