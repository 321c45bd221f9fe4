"""The vector of a question without a model: the sum of the word vectors of this vault.

Loading a model would take longer than the search itself. The heartbeat has computed a vector for each piece of a word,
so that the sums of pieces approximate the model's vectors of the vault's texts (`clawmem.index.vectors.word_vectors`).
A piece that does not occur in the vault has the model's own vector.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from clawmem.index.vectors.store import Vectors
from clawmem.model.language.question import search_words
from clawmem.model.language.wordpiece import cut_by, words
from clawmem.model.search.vector import normalize_vector, unpack_vector


class _Piece(NamedTuple):
    """A vocabulary piece: the model's own vector, its vector in this vault, and its weight there."""

    prior: bytes | None
    fitted: bytes | None
    weight: float | None


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
    total: list[float] = []
    for piece in _pieces_of(vectors, question):
        meaning = _meaning(piece, unseen, share)
        total = [a + b for a, b in zip(total, meaning, strict=True)] if total and meaning else total or meaning
    return normalize_vector(total) if any(total) else None


def _meaning(piece: _Piece, unseen: float, share: float) -> list[float]:
    """Return the weighted vector of a piece; `share` scales the model's own vectors to the others."""
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

    found = [word for search_word in search_words(question) for word in words(search_word)]
    return [known[piece] for word in found for piece in cut_by(word, longest)]
