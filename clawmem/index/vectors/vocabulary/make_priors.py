"""Creates `priors.bin`: `python -m clawmem.index.vectors.vocabulary.make_priors [FILE]`, with the extra `semantic`.

Needed only if the model or its vocabulary changes. The model embeds each piece alone, which takes a minute or two. The
vectors are scaled to length one and reduced to the strongest directions of their singular value decomposition.
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
    """Return the model's vector of each piece, one per row, of length one."""
    import numpy

    return numpy.array([model.embed_pieces([piece]) for piece in pieces], dtype=numpy.float32)


def encode_vectors(vectors: Any) -> bytes:
    """Return the vectors in the format of the file: see `clawmem.index.vectors.vocabulary.priors`."""
    import numpy

    _, _, directions = numpy.linalg.svd(vectors, full_matrices=False)
    basis = directions[:DIRECTIONS]
    along = vectors @ basis.T
    scales = numpy.abs(along).max(axis=1) / _LARGEST
    whole = numpy.rint(along / scales[:, None]).astype(numpy.int8)
    return bytes(basis.astype("<f2").tobytes() + scales.astype("<f2").tobytes() + whole.tobytes())


def main() -> None:
    """Write the given file, or the one of the package."""
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else FILE
    path.write_bytes(encode_vectors(vectors_of(LocalModel(), vocabulary())))


if __name__ == "__main__":
    main()
