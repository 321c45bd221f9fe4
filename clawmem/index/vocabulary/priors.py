"""What the local model makes of each piece of its vocabulary by itself, computed once and kept in `priors.bin`.

Working it out takes half a minute. The file holds the vectors in the 128 directions in which they differ most: those
directions as 128 x 384 half floats, then for each piece a half float, then for each piece 128 bytes it multiplies.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from pathlib import Path

FILE = Path(__file__).parent / "priors.bin"
DIRECTIONS, NUMBERS = 128, 384


def priors(pieces: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """Each piece with its vector, packed as in `clawmem.model.vector`."""
    import numpy

    data = FILE.read_bytes()
    size = len(pieces)
    basis = numpy.frombuffer(data, "<f2", DIRECTIONS * NUMBERS).reshape(DIRECTIONS, NUMBERS).astype(numpy.float32)
    scales = numpy.frombuffer(data, "<f2", size, basis.size * 2).astype(numpy.float32)
    told = numpy.frombuffer(data, numpy.int8, size * DIRECTIONS, (basis.size + size) * 2).reshape(size, DIRECTIONS)
    vectors = (told * scales[:, None]) @ basis
    steps = numpy.maximum(numpy.abs(vectors).max(axis=1) / 127, 1e-9)
    whole = numpy.rint(vectors / steps[:, None]).astype(numpy.int8)
    for piece, step, row in zip(pieces, steps.tolist(), whole, strict=True):
        yield piece, struct.pack("<f", step) + row.tobytes()
