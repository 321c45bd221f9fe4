"""Word vectors of this vault: vectors of word pieces whose sums best approximate the model's vectors of its texts.

They are computed by ridge regression towards the model's own vectors of single pieces, with the conjugate gradient
method (Hestenes and Stiefel, 1952) and a diagonal preconditioner. A text is the sum of its pieces, weighted by rarity
and scaled to length one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from math import log
from typing import Any, NamedTuple

from clawmem.index.vectors.local_model import cut, words

RIDGE = 0.3
ROUNDS = 8
_ROWS_AT_ONCE = 2000


class WordVectors(NamedTuple):
    """The vector and weight of each piece in the texts; the weight of any other piece; and the factor that scales the
    model's own vectors to these."""

    vectors: Mapping[str, Sequence[float]]
    weights: Mapping[str, float]
    unseen: float
    share: float


def pieces_in(text: str, known: Container[str]) -> list[str]:
    """Return the pieces of a text's words. Words that cannot be split have none."""
    return [piece for word in words(text) for piece in cut(word, known)]


def fit_word_vectors(texts: Sequence[Sequence[str]], targets: Any, priors: Mapping[str, Any]) -> WordVectors:
    """Compute the vectors of pieces. `texts` are given as pieces, and `targets` has the model's vector of each in a
    row.

    `priors` are the model's own vectors of pieces. A piece without one is not constrained.
    """
    import numpy

    weights, unseen = _weights(texts)
    if not weights:
        return WordVectors({}, {}, unseen, 1.0)
    names = sorted(weights)
    number = {piece: at for at, piece in enumerate(names)}
    shape = _Table(texts, number, weights)
    wanted = numpy.asarray(targets, dtype=numpy.float32)[shape.kept]
    nothing = numpy.zeros(wanted.shape[1], dtype=numpy.float32)
    start = numpy.array([priors.get(piece, nothing) for piece in names], dtype=numpy.float32)
    start_texts = shape.times(start)
    share = float((start_texts * wanted).sum() / max(float((start_texts * start_texts).sum()), 1e-9))
    fitted = start * share + _solved(shape, wanted - start_texts * share)
    return WordVectors(dict(zip(names, fitted.tolist(), strict=True)), weights, unseen, share)


def _weights(texts: Iterable[Sequence[str]]) -> tuple[dict[str, float], float]:
    """Return the weight of each piece, lower the more texts contain it, and that of a piece in no text."""
    holding: Counter[str] = Counter()
    total = 0
    for pieces in texts:
        holding.update(set(pieces))
        total += 1
    return {piece: log(1 + total / (1 + count)) for piece, count in holding.items()}, log(1 + total)


class _Table:
    """The texts as a sparse matrix with a row per text and a column per piece, for multiplication from both sides."""

    def __init__(self, texts: Sequence[Sequence[str]], number: Mapping[str, int], weights: Mapping[str, float]) -> None:
        import numpy

        self.kept = [at for at, pieces in enumerate(texts) if pieces]
        self.columns = len(number)
        rows, columns, values = [], [], []
        for row, at in enumerate(self.kept):
            counted = {piece: weights[piece] * count for piece, count in Counter(texts[at]).items()}
            length = sum(value * value for value in counted.values()) ** 0.5
            rows += [row] * len(counted)
            columns += [number[piece] for piece in counted]
            values += [value / length for value in counted.values()]
        self._rows, self._columns = numpy.array(rows, dtype=numpy.intp), numpy.array(columns, dtype=numpy.intp)
        self._values = numpy.array(values, dtype=numpy.float32)
        self._by_column = numpy.argsort(self._columns, kind="stable")

    def times(self, vectors: Any) -> Any:
        """Return each text as the sum of its pieces' vectors."""
        return _summed(self._rows, self._values, self._columns, vectors, len(self.kept))

    def transposed_times(self, vectors: Any) -> Any:
        """Return each piece as the sum of its texts' vectors."""
        order = self._by_column
        return _summed(self._columns[order], self._values[order], self._rows[order], vectors, self.columns)

    def diagonal(self) -> Any:
        """Return the sum of squares of each column."""
        import numpy

        return numpy.bincount(self._columns, self._values**2, minlength=self.columns).astype(numpy.float32)


def _summed(into: Any, values: Any, source: Any, vectors: Any, size: int) -> Any:
    """Return the sums of scaled vectors by target row. `into` is ascending, and each of its values occurs."""
    import numpy

    total = numpy.zeros((size, vectors.shape[1]), dtype=numpy.float32)
    for first in range(0, size, _ROWS_AT_ONCE):
        start, end = numpy.searchsorted(into, (first, min(first + _ROWS_AT_ONCE, size)))
        if start == end:
            continue
        part = vectors[source[start:end]] * values[start:end, None]
        places, begins = numpy.unique(into[start:end], return_index=True)
        total[places] = numpy.add.reduceat(part, begins, axis=0)
    return total


def _solved(table: _Table, wanted: Any) -> Any:
    import numpy

    rest = table.transposed_times(wanted)
    found = numpy.zeros_like(rest)
    scale = 1 / (table.diagonal() + RIDGE)[:, None]
    near = scale * rest
    way, height = near.copy(), (rest * near).sum(axis=0)
    for _ in range(ROUNDS):
        across = table.transposed_times(table.times(way)) + RIDGE * way
        step = height / numpy.maximum((way * across).sum(axis=0), 1e-12)
        found += step * way
        rest -= step * across
        near = scale * rest
        lower = (rest * near).sum(axis=0)
        way = near + lower / numpy.maximum(height, 1e-12) * way
        height = lower
    return found
