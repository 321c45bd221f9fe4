"""Choose the hits of a question that are worth showing without being asked for: those close to the best one."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeVar

VECTOR = "vector"
Found = TypeVar("Found")


class ScoredHit(NamedTuple):
    """The score of a hit, and the part of each channel in it."""

    score: float
    channels: Mapping[str, float]


def close_to_best(hits: Sequence[tuple[Found, ScoredHit]], least: float) -> list[Found]:
    """Return the hits whose score is at least `least` times the best one's, in their order.

    If vectors took part, a hit also has the share that it would have without them, and the larger one counts and
    determines the order. So a search by meaning adds hits, and the best hits by words keep their places.
    """
    if not hits:
        return []
    best = max(hit.score for _, hit in hits)
    shares = [hit.score / best if best > 0 else 1.0 for _, hit in hits]
    by_meaning = any(VECTOR in hit.channels for _, hit in hits)
    if by_meaning:
        plain = [_without_vectors(hit) for _, hit in hits]
        most = max(plain)
        shares = [max(share, one / most) if most > 0 else share for share, one in zip(shares, plain, strict=True)]
    kept = [(found, share) for (found, _), share in zip(hits, shares, strict=True) if share >= least]
    ordered = sorted(kept, key=lambda one: -one[1]) if by_meaning else kept
    return [found for found, _ in ordered]


def _without_vectors(hit: ScoredHit) -> float:
    return sum(value for name, value in hit.channels.items() if name != VECTOR)
