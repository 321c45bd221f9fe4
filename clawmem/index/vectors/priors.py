"""The local model's vector of each piece of its vocabulary, less the average of all: what they share says nothing.

`benchmarks/make_priors.py` writes the files. `priors.bin` has the vectors in the 128 strongest directions: the
directions as 128 x 384 half floats, then a half float scale for each piece, then 128 signed bytes for each piece.
`average.bin` has the average as 128 floats. Without a model, words are compared by them, and so are a question and the
texts of a vault.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Collection, Iterable, Iterator, Sequence
from math import sqrt
from operator import mul
from typing import Any

from clawmem.index.vectors.local_model import VOCABULARY, cut, words
from clawmem.index.vectors.store import Vectors, normalize_vector, unpack_vector
from clawmem.model.language.question import search_words

FILE = VOCABULARY.with_name("priors.bin")
AVERAGE = VOCABULARY.with_name("average.bin")
DIRECTIONS, NUMBERS = 128, 384
_BASIS_BYTES = DIRECTIONS * NUMBERS * 2


class Priors:
    """The pieces and their vectors, read from the files where they stand: without numpy, and without a copy of them."""

    def __init__(self) -> None:
        self._pieces = b"\n%s\n" % VOCABULARY.read_bytes().strip(b"\n")
        self._size = self._pieces.count(b"\n") - 1

    def __contains__(self, piece: object) -> bool:
        return self._pieces.find(b"\n%s\n" % str(piece).encode()) >= 0

    def along(self, pieces: Iterable[str]) -> list[array[int]]:
        """Return 128 signed bytes for each piece that is known."""
        with FILE.open("rb") as file:
            return [numbers for piece in pieces if (numbers := self._read(file, piece)[1])]

    def total(self, pieces: Iterable[str]) -> list[float]:
        """Return the sum of the vectors of known pieces: 384 numbers."""
        average = struct.unpack(f"<{DIRECTIONS}f", AVERAGE.read_bytes())
        along = [0.0] * DIRECTIONS
        with FILE.open("rb") as file:
            for piece in pieces:
                scale, numbers = self._read(file, piece)
                along = [total + scale * n - mean for total, n, mean in zip(along, numbers, average, strict=True)]
            file.seek(0)
            basis = struct.unpack(f"<{DIRECTIONS * NUMBERS}e", file.read(_BASIS_BYTES))
        return [sum(map(mul, along, basis[n::NUMBERS])) for n in range(NUMBERS)]

    def _read(self, file: Any, piece: str) -> tuple[float, array[int]]:
        found = self._pieces.find(b"\n%s\n" % piece.encode())
        if found < 0:
            return 0.0, array("b")
        place = self._pieces.count(b"\n", 0, found)
        file.seek(_BASIS_BYTES + 2 * place)
        (scale,) = struct.unpack("<e", file.read(2))
        file.seek(_BASIS_BYTES + 2 * self._size + DIRECTIONS * place)
        return scale, array("b", file.read(DIRECTIONS))


def prior_vectors(pieces: Sequence[str]) -> dict[str, Any]:
    """Return the vector of each known one of some pieces, as an array of 384 numbers, less the average."""
    import numpy

    data = FILE.read_bytes()
    places = {piece: place for place, piece in enumerate(VOCABULARY.read_text(encoding="utf-8").splitlines())}
    known = [piece for piece in pieces if piece in places]
    rows = [places[piece] for piece in known]
    basis = numpy.frombuffer(data, "<f2", DIRECTIONS * NUMBERS).reshape(DIRECTIONS, NUMBERS).astype(numpy.float32)
    scales = numpy.frombuffer(data, "<f2", len(places), _BASIS_BYTES)[rows].astype(numpy.float32)
    start = _BASIS_BYTES + 2 * len(places)
    quantized = numpy.frombuffer(data, numpy.int8, offset=start).reshape(len(places), DIRECTIONS)[rows]
    along = quantized * scales[:, None] - numpy.frombuffer(AVERAGE.read_bytes(), "<f4")
    return dict(zip(known, along @ basis, strict=True))


# Tell words with a near meaning from others, by the kept vectors of single pieces: no model, and no numpy.

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


# The vector of a question without a model: the sum of the word vectors of this vault.

# Facts, events and notes are searched with one question. The numbers of the vault's texts change with each fitting.
_LAST: dict[tuple[str | None, ...], list[float] | None] = {}


def question_vector(vectors: Vectors, question: str) -> list[float] | None:
    """Return the vector of a question, of length one, or None if no piece of its words has a vector."""
    key = (question, *map(vectors.meta, ("model", "unseen", "share")))
    found = _LAST.get(key)
    if found is None:
        found = _computed(vectors, question, float(key[2] or 1.0), float(key[3] or 1.0))
        _LAST.clear()
        _LAST[key] = found
    return found


def _computed(vectors: Vectors, question: str, unseen: float, share: float) -> list[float] | None:
    """Return the sum of the weighted vectors; `share` scales the model's own vectors to the others."""
    priors = Priors()
    found = [word for search_word in search_words(question) for word in words(search_word)]
    pieces = [piece for word in found for piece in cut(word, priors)]
    # A store of an older version has pieces that are not in the vault's texts, too.
    marks = ",".join("?" * len(pieces))
    query = f"SELECT piece, fitted, weight FROM piece WHERE piece IN ({marks}) AND fitted IS NOT NULL"
    fitted = {row[0]: row[1:] for row in vectors.database.execute(query, pieces)}
    total = [0.0] * NUMBERS
    for data, weight in (fitted[piece] for piece in pieces if piece in fitted):
        total = [a + weight * b for a, b in zip(total, unpack_vector(data), strict=True)]
    if others := [piece for piece in pieces if piece not in fitted]:
        total = [a + unseen * share * b for a, b in zip(total, priors.total(others), strict=True)]
    return normalize_vector(total) if any(total) else None
