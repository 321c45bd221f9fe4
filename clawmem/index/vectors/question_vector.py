"""The vector of a question without a model: the sum of what its words mean in this vault.

Loading a model would take longer than the whole search. The heartbeat has learned for each piece of a word the vector
with which the vault's own texts, put together from their pieces, come closest to what the model makes of them
(`clawmem.index.vectors.word_vectors`); a piece that the vault never used has the one the model gives it by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from clawmem.index.vectors.store import Vectors
from clawmem.model.language.question import search_words
from clawmem.model.language.wordpiece import cut_by, words
from clawmem.model.search.vector import normalize_vector, unpack_vector


class _Piece(NamedTuple):
    """What is known of a piece: its vectors, by itself and in this vault, and its weight there."""

    prior: bytes | None
    fitted: bytes | None
    weight: float | None


def question_vector(vectors: Vectors, question: str) -> list[float] | None:
    """The question's vector, of length one; None where no piece of its words has a vector."""
    unseen, share = float(vectors.meta("unseen") or 1.0), float(vectors.meta("share") or 1.0)
    total: list[float] = []
    for piece in _pieces_of(vectors, question):
        meaning = _meaning(piece, unseen, share)
        total = [a + b for a, b in zip(total, meaning, strict=True)] if total and meaning else total or meaning
    return normalize_vector(total) if any(total) else None


def _meaning(piece: _Piece, unseen: float, share: float) -> list[float]:
    """The weighted vector of a piece; `share` brings the vectors of pieces by themselves to the scale of the others."""
    if piece.fitted is not None and piece.weight is not None:
        return [piece.weight * number for number in unpack_vector(piece.fitted)]
    if piece.prior is not None:
        return [unseen * share * number for number in unpack_vector(piece.prior)]
    return []


def _pieces_of(vectors: Vectors, question: str) -> list[_Piece]:
    known: dict[str, _Piece] = {}

    def longest(candidates: Sequence[str]) -> str | None:
        marks = ",".join("?" * len(candidates))
        query = f"SELECT piece, prior, fitted, weight FROM piece WHERE piece IN ({marks}) ORDER BY length(piece) DESC"
        row = vectors.database.execute(f"{query} LIMIT 1", tuple(candidates)).fetchone()
        if row is None:
            return None
        known[row[0]] = _Piece(*row[1:])
        return str(row[0])

    told = [word for asked in search_words(question) for word in words(asked)]
    return [known[piece] for word in told for piece in cut_by(word, longest)]
