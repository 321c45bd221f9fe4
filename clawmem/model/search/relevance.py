"""Choose the hits of a question that are worth showing without being asked for: those close to the best one."""

from collections.abc import Collection, Sequence
from typing import TypeVar

from clawmem.model.search.ranking import FLOOR

Found = TypeVar("Found")


def close_to_best(hits: Sequence[tuple[Found, float]], least: float) -> list[Found]:
    """Return the hits whose score is at least `least` times the best one's, in their order."""
    best = max((score for _, score in hits), default=0.0)
    return [found for found, score in hits if score >= least * best]


def normalized_share(share: float, scores: Collection[float]) -> float:
    """Return what a share of the best score is after min-max normalization as in `ranking.normalized`.

    Of two nearly equal scores, normalization makes one the lowest, so a share of the best must be compared before it.
    """
    low, high = min(scores, default=0.0), max(scores, default=0.0)
    if high <= low:
        return share
    return FLOOR + (1 - FLOOR) * (share * high - low) / (high - low)
