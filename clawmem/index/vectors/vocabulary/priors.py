"""The local model's vector of each piece of its vocabulary, computed by `make_priors` and stored in `priors.bin`.

The file contains the vectors in the 128 strongest directions: the directions as 128 x 384 half floats, then a half
float scale for each piece, then 128 signed bytes for each piece.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

FILE = Path(__file__).parent / "priors.bin"
DIRECTIONS, NUMBERS = 128, 384


def priors(pieces: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """Yield each piece with its vector less the average of all pieces, packed as in `clawmem.model.search.vector`.

    What all single pieces share says nothing of a text: a sum of a few of them would mostly be that.
    """
    import numpy

    data = FILE.read_bytes()
    size = len(pieces)
    basis = numpy.frombuffer(data, "<f2", DIRECTIONS * NUMBERS).reshape(DIRECTIONS, NUMBERS).astype(numpy.float32)
    scales = numpy.frombuffer(data, "<f2", size, basis.size * 2).astype(numpy.float32)
    quantized = numpy.frombuffer(data, numpy.int8, size * DIRECTIONS, (basis.size + size) * 2).reshape(size, DIRECTIONS)
    vectors = (quantized * scales[:, None]) @ basis
    vectors -= vectors.mean(axis=0)
    steps = numpy.maximum(numpy.abs(vectors).max(axis=1) / 127, 1e-9).astype("<f4")
    whole = numpy.rint(vectors / steps[:, None]).astype(numpy.int8)
    rows = numpy.hstack([steps.view(numpy.uint8).reshape(size, 4), whole.view(numpy.uint8)]).tobytes()
    width = len(rows) // size
    for at, piece in enumerate(pieces):
        yield piece, rows[at * width : (at + 1) * width]
