"""The vector of a question without a model: the sum of the word vectors of this vault.

Loading a model would take longer than the search itself. The heartbeat has computed a vector for each piece of a word,
so that the sums of pieces approximate the model's vectors of the vault's texts (`clawmem.index.vectors.word_vectors`).
A piece that does not occur in the vault has the model's own vector.
"""

from __future__ import annotations

from clawmem.index.vectors.store import Vectors
from clawmem.index.vectors.vocabulary.priors import NUMBERS, Priors
from clawmem.model.language.question import search_words
from clawmem.model.language.wordpiece import cut, words
from clawmem.model.search.vector import normalize_vector, unpack_vector

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
