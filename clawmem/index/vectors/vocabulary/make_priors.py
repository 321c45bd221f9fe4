"""Makes `priors.bin` anew: `python -m clawmem.index.vectors.vocabulary.make_priors [FILE]`, with the extra `semantic`.

Needed only where the model or its vocabulary changes. Each piece is given to the model by itself, between its two
marks, which takes a minute or two for all of them; what they make is brought to length one, and of its singular value
decomposition the strongest directions are kept.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from clawmem.index.vectors.local_model import LocalModel, vocabulary
from clawmem.index.vectors.vocabulary.priors import DIRECTIONS, FILE

_LARGEST = 127


def vectors_of(model: LocalModel, pieces: Iterable[str]) -> Any:
    """What the model makes of each piece by itself, a row a piece, each of length one."""
    import numpy

    return numpy.array([model.embed_pieces([piece]) for piece in pieces], dtype=numpy.float32)


def encode_vectors(vectors: Any) -> bytes:
    """The vectors as the file holds them: see `clawmem.index.vectors.vocabulary.priors`."""
    import numpy

    _, _, directions = numpy.linalg.svd(vectors, full_matrices=False)
    basis = directions[:DIRECTIONS]
    along = vectors @ basis.T
    scales = numpy.abs(along).max(axis=1) / _LARGEST
    whole = numpy.rint(along / scales[:, None]).astype(numpy.int8)
    return bytes(basis.astype("<f2").tobytes() + scales.astype("<f2").tobytes() + whole.tobytes())


def main() -> None:
    """Write the file that is named, or the one in its place."""
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else FILE
    path.write_bytes(encode_vectors(vectors_of(LocalModel(), vocabulary())))


if __name__ == "__main__":
    main()
