"""Tell English words with a near meaning from others, by kept vectors: no model, and no numpy.

`priors.bin` has the vectors that all-MiniLM-L6-v2 gives each piece of the vocabulary by itself, in their 128 strongest
directions: the directions as 128 x 384 half floats, then a half float scale for each piece, then 128 signed bytes for
each piece. The files are read where they stand, without a copy of them.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterator
from math import sqrt
from operator import mul
from pathlib import Path

VOCABULARY = Path(__file__).parent / "vocabulary" / "wordpieces.txt"
VECTORS = VOCABULARY.with_name("priors.bin")
DIRECTIONS, NUMBERS = 128, 384
# Words as close as this are used of the same things: `drink` and `tea`, `earn` and `wage`.
NEAR = 0.45
# The strongest direction is what all pieces share.
_SHARED = 1


def has_near_word(words: Collection[str], others: Collection[str]) -> bool:
    """Return whether one of some words has nearly the meaning of one of the others, all in lower case. Words that are
    not in the vocabulary have none."""
    pieces = b"\n%s\n" % VOCABULARY.read_bytes().strip(b"\n")
    compared = list(_vectors(pieces, others))
    return any(sum(map(mul, vector, other)) >= NEAR for vector in _vectors(pieces, words) for other in compared)


def _vectors(pieces: bytes, words: Collection[str]) -> Iterator[list[float]]:
    """Yield the vectors of those words that are one piece, of length one."""
    start = 2 * (DIRECTIONS * NUMBERS + pieces.count(b"\n") - 1)
    with VECTORS.open("rb") as file:
        for word in words:
            found = pieces.find(b"\n%s\n" % word.encode(errors="replace"))
            if found < 0:
                continue
            file.seek(start + DIRECTIONS * pieces.count(b"\n", 0, found))
            numbers = array("b", file.read(DIRECTIONS))[_SHARED:]
            length = sqrt(sum(map(mul, numbers, numbers)))
            yield [number / length if length else 0.0 for number in numbers]
