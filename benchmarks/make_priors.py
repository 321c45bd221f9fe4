"""Creates `priors.bin` and `average.bin`: `python -m benchmarks.make_priors [FOLDER]`, with the
extra `semantic`.

Needed only if the model or its vocabulary changes. The model embeds each piece alone, which takes a minute or two. The
vectors are scaled to length one and reduced to the strongest directions of their singular value decomposition.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from clawmem.index.vectors.local_model import LocalModel, vocabulary
from clawmem.index.vectors.priors import AVERAGE, DIRECTIONS, FILE

_LARGEST = 127


def vectors_of(model: LocalModel, pieces: Iterable[str]) -> Any:
    """Return the model's vector of each piece, one per row, of length one."""
    import numpy

    return numpy.array([model.embed_pieces([piece]) for piece in pieces], dtype=numpy.float32)


def encode_vectors(vectors: Any) -> tuple[bytes, bytes]:
    """Return the two files with the vectors: see `clawmem.index.vectors.priors`."""
    import numpy

    _, _, directions = numpy.linalg.svd(vectors, full_matrices=False)
    basis = directions[:DIRECTIONS]
    along = vectors @ basis.T
    scales = (numpy.abs(along).max(axis=1) / _LARGEST).astype("<f2")
    whole = numpy.rint(along / scales[:, None]).astype(numpy.int8)
    average = (whole * scales[:, None].astype(numpy.float32)).mean(axis=0)
    data = basis.astype("<f2").tobytes() + scales.tobytes() + whole.tobytes()
    return bytes(data), bytes(average.astype("<f4").tobytes())


def main() -> None:
    """Write the files of the given folder, or those of the package."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FILE.parent
    for path, data in zip((FILE, AVERAGE), encode_vectors(vectors_of(LocalModel(), vocabulary())), strict=True):
        (folder / path.name).write_bytes(data)


if __name__ == "__main__":
    main()
