"""Tell words with a near meaning from others, by the kept vectors of single pieces: no model, and no numpy."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterator
from math import sqrt
from operator import mul

from clawmem.index.vectors.local_model import VOCABULARY
from clawmem.index.vectors.vocabulary.priors import DIRECTIONS, FILE, NUMBERS

# Words as close as this are used of the same things: `drink` and `tea`, `earn` and `wage`.
NEAR = 0.45
# The strongest direction is what all pieces share.
_SHARED = 1


def has_near_word(words: Collection[str], others: Collection[str]) -> bool:
    """Return whether one of some words has nearly the meaning of one of the others, all in lower case. Words that are
    not in the vocabulary have none."""
    pieces = VOCABULARY.read_bytes()
    compared = list(_vectors(pieces, others))
    return any(sum(map(mul, vector, other)) >= NEAR for vector in _vectors(pieces, words) for other in compared)


def _vectors(pieces: bytes, words: Collection[str]) -> Iterator[list[float]]:
    """Yield the vectors of those words that are one piece, of length one."""
    size = pieces.count(b"\n") + (not pieces.endswith(b"\n"))
    start = DIRECTIONS * NUMBERS * 2 + size * 2
    with FILE.open("rb") as file:
        for word in words:
            place = pieces.find(b"\n%s\n" % word.encode())
            if place >= 0:
                file.seek(start + pieces.count(b"\n", 0, place + 1) * DIRECTIONS)
                numbers = array("b", file.read(DIRECTIONS))[_SHARED:]
                length = sqrt(sum(map(mul, numbers, numbers)))
                yield [number / length for number in numbers] if length else [0.0] * len(numbers)
