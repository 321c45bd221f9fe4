"""Tell words with a near meaning from others, by the kept vectors of single pieces: no model, and no numpy."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from math import sqrt
from operator import mul

from clawmem.index.vectors.vocabulary.priors import Priors

# Words as close as this are used of the same things: `drink` and `tea`, `earn` and `wage`.
NEAR = 0.45
# The strongest direction is what all pieces share.
_SHARED = 1


def has_near_word(words: Collection[str], others: Collection[str]) -> bool:
    """Return whether one of some words has nearly the meaning of one of the others, all in lower case. Words that are
    not in the vocabulary have none."""
    priors = Priors()
    compared = list(_vectors(priors, others))
    return any(sum(map(mul, vector, other)) >= NEAR for vector in _vectors(priors, words) for other in compared)


def _vectors(priors: Priors, words: Collection[str]) -> Iterator[list[float]]:
    """Yield the vectors of those words that are one piece, of length one."""
    for numbers in priors.along(words):
        length = sqrt(sum(map(mul, numbers[_SHARED:], numbers[_SHARED:])))
        yield [number / length if length else 0.0 for number in numbers[_SHARED:]]
