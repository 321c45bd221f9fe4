"""The local model's vector of each piece of its vocabulary, less the average of all: what they share says nothing.

`make_priors` writes the files. `priors.bin` has the vectors in the 128 strongest directions: the directions as 128 x
384 half floats, then a half float scale for each piece, then 128 signed bytes for each piece. `average.bin` has the
average as 128 floats.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Iterable, Sequence
from operator import mul
from pathlib import Path
from typing import Any

from clawmem.index.vectors.local_model import VOCABULARY

FILE = Path(__file__).parent / "priors.bin"
AVERAGE = Path(__file__).parent / "average.bin"
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
