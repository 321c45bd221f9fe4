"""The vector channel: facts, events and notes whose meaning is close to the question."""

import json
import sqlite3
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from heapq import nsmallest
from operator import mul
from typing import NamedTuple

from clawmem.errors import ClawmemError, ModelFailed
from clawmem.index.search.channels import CANDIDATES, ChannelHits, FactFilter, condition_of, passing_ids
from clawmem.index.search.lookup import PlacedFact
from clawmem.index.tables.store import Index
from clawmem.index.vectors.embed import embed_missing, needs_embedding, words_of_fact
from clawmem.index.vectors.local_model import NAME, model_for_questions, question_vector
from clawmem.index.vectors.store import (
    EVENTS,
    FACTS,
    KEY_SIZE,
    NONE,
    NOTES,
    VectorPack,
    Vectors,
    code_size,
    hamming_distances,
    key_of,
    normalize_vector,
    note_id,
    open_vectors,
    pack_vector,
    packed_product,
    page_of_note_id,
    sign_bits,
)
from clawmem.model.records.layout import agent_of
from clawmem.vault.vault import Vault

_ENOUGH = 20
_SECONDS, _MOST_EMBEDDED = 1.0, 20
_NOTHING = "nothing is embedded yet: run `clawmem heartbeat`"


class VectorQuery(NamedTuple):
    """A question ready for comparison: the open vector store, the model, the vector of the question less the centre,
    of length one, the product of that and the centre, and the spread."""

    vectors: Vectors
    model: str
    vector: Sequence[float]
    shared: float
    spread: float


class VectorsUnavailable(Exception):
    """The channel does not run; the message says why. `vectors.search` has asked already whether it is wanted."""


def vector_channel(vault: Vault, index: Index, question: str, wanted: FactFilter) -> ChannelHits:
    """Return facts close to the question. The score is the closeness, a cosine above 0."""
    return _answered(vault, question, lambda query: _facts(query, index, wanted))


def event_vector_channel(vault: Vault, index: Index, question: str) -> ChannelHits:
    """Return events close to the question. The score is the closeness, a cosine above 0."""
    return _answered(vault, question, lambda query: _event_rows(index, _nearest(query, EVENTS)))


def note_vector_channel(vault: Vault, index: Index, question: str, owners: Collection[str]) -> ChannelHits:
    """Return note lines close to the question, by cosine above 0. Of agents' notes, only the `owners` count."""
    return _answered(vault, question, lambda query: _note_rows(index, _nearest(query, NOTES, owners)))


def _answered(vault: Vault, question: str, search: Callable[[VectorQuery], ChannelHits]) -> ChannelHits:
    try:
        with _query(vault, question) as query:
            return search(query)
    except VectorsUnavailable as reason:
        return ChannelHits({}, False, str(reason), unable=True)


def asked_apart(vault: Vault, question: str) -> Sequence[float] | None:
    """Return the vector of a question less the centre of the vault, of length one, or None where there is none."""
    try:
        with _query(vault, question) as query:
            return query.vector
    except VectorsUnavailable:
        return None


def closeness_of(vault: Vault, question: str, facts: Sequence[PlacedFact], texts: Sequence[str]) -> list[float]:
    """Return how close facts and then texts are to the question, as cosines; none where vectors cannot be had. What is
    not embedded yet is embedded now, if that takes a second or so."""
    with suppress(ClawmemError):  # such as Locked
        if needs_embedding(vault):
            embed_missing(vault, _SECONDS)
    words = [*map(words_of_fact, facts), *texts]
    try:
        with _query(vault, question) as query:
            values = query.vectors.values(query.model, map(key_of, words))
            missing = [text for text in dict.fromkeys(words) if key_of(text) not in values]
            if len(missing) > _MOST_EMBEDDED:
                raise VectorsUnavailable("too much is not embedded yet")
            values |= {key_of(text): pack_vector(model_for_questions().embed(text)) for text in missing}
            vectors = (values[key_of(text)] for text in words)
            return [(packed_product(query.vector, vector) - query.shared) / query.spread for vector in vectors]
    except VectorsUnavailable:
        return []


@contextmanager
def _query(vault: Vault, question: str) -> Iterator[VectorQuery]:
    if vault.settings.words("semantic.model") == NONE:
        raise VectorsUnavailable("semantic.model is none")
    vectors = None
    try:
        vectors = open_vectors(vault)
        if vectors is None:
            raise VectorsUnavailable(_NOTHING)
        model = _model_of(vectors)
        asked = question_vector(question)
        with vectors.snapshot():
            if (centre := vectors.centre()) is None:
                raise VectorsUnavailable(_NOTHING)
            vector = normalize_vector([n - mean for n, mean in zip(asked, centre.mean, strict=True)])
            yield VectorQuery(vectors, model, vector, sum(map(mul, vector, centre.mean)), centre.spread)
    except ModelFailed as problem:
        raise VectorsUnavailable(problem.message.rstrip(".")) from None
    except sqlite3.DatabaseError as problem:
        raise VectorsUnavailable(f"the vectors cannot be read ({problem}); the next heartbeat rebuilds them") from None
    finally:
        if vectors is not None:
            vectors.close()


def _model_of(vectors: Vectors) -> str:
    """Return the model of the stored vectors. Raise VectorsUnavailable if it is another one than this version's."""
    model = vectors.meta("model")
    if model is None:
        raise VectorsUnavailable(_NOTHING)
    if model != NAME:
        raise VectorsUnavailable("the vectors are from another model: `clawmem heartbeat` computes new ones")
    return model


def _facts(query: VectorQuery, index: Index, wanted: FactFilter) -> ChannelHits:
    pack = query.vectors.pack(FACTS)
    (total,) = index.database.execute("SELECT facts FROM total").fetchone()
    apart = _differences(query, pack)
    nearest = nsmallest(CANDIDATES, range(len(apart)), key=apart.__getitem__)
    rows = _rows(index, [pack.ids[at] for at in nearest], wanted)
    if len(rows) < min(CANDIDATES, _ENOUGH) and len(nearest) < len(apart):
        rows = passing_ids(index, wanted)
        nearest = nsmallest(CANDIDATES, (at for at, name in enumerate(pack.ids) if name in rows), key=apart.__getitem__)
    scores = _closeness(query, pack, [at for at in nearest if pack.ids[at] in rows])
    close = {rows[pack.ids[at]]: score for at, score in scores.items() if score > 0}
    return ChannelHits(close, embedded=pack.ids if len(pack.ids) < total else None)


def _differences(query: VectorQuery, pack: VectorPack) -> list[int]:
    """Return in how many signs each text differs from the question."""
    if len(pack.codes) != len(pack.ids) * code_size(len(query.vector)):
        raise VectorsUnavailable(
            "the question's vector has another size than the stored ones: `clawmem reindex --vectors`"
        )
    return hamming_distances(pack.codes, sign_bits(query.vector))


def _closeness(query: VectorQuery, pack: VectorPack, places: Sequence[int]) -> dict[int, float]:
    """Return the exact closeness of the texts at some positions."""
    keys = {at: pack.keys[at * KEY_SIZE : (at + 1) * KEY_SIZE] for at in places}
    values = query.vectors.values(query.model, keys.values())
    return {
        at: (packed_product(query.vector, values[key]) - query.shared) / query.spread
        for at, key in keys.items()
        if key in values
    }


def _rows(index: Index, ids: Sequence[str], wanted: FactFilter) -> dict[str, int]:
    condition, values = condition_of(wanted)
    query = f"SELECT id, n FROM fact WHERE id IN (SELECT value FROM json_each(?)) AND {condition}"
    return dict(index.database.execute(query, (json.dumps([*ids]), *values)))


def _nearest(query: VectorQuery, kind: str, owners: Collection[str] | None = None) -> dict[str, float]:
    pack = query.vectors.pack(kind)
    apart = _differences(query, pack)
    visible = [at for at, name in enumerate(pack.ids) if owners is None or _owner(name) in owners]
    near = {pack.ids[at] for at in nsmallest(CANDIDATES, visible, key=apart.__getitem__)}
    scores: dict[str, float] = {}
    for at, score in _closeness(query, pack, [at for at, name in enumerate(pack.ids) if name in near]).items():
        # A long text has the score of its closest piece.
        scores[pack.ids[at]] = max(score, scores.get(pack.ids[at], 0.0))
    return {name: score for name, score in scores.items() if score > 0}


def _owner(note: str) -> str:
    return agent_of(page_of_note_id(note)) or ""


def _event_rows(index: Index, scores: Mapping[str, float]) -> ChannelHits:
    found = {}
    for name, score in scores.items():
        day, _, event_id = name.partition(" ")
        row = index.database.execute("SELECT n, mark FROM event WHERE id = ? AND day = ?", (event_id, day)).fetchone()
        if row and not index.is_cut(row[1]):  # the vector is of the whole message
            found[row[0]] = score
    return ChannelHits(found)


def _note_rows(index: Index, scores: Mapping[str, float]) -> ChannelHits:
    """Return the rows of note lines whose text has not changed since it was embedded."""
    pages = sorted({page_of_note_id(name) for name in scores})
    query = "SELECT n, note.path, text FROM json_each(?) AS given CROSS JOIN note ON note.path = given.value"
    named = ((n, note_id(path, text)) for n, path, text in index.database.execute(query, (json.dumps(pages),)))
    return ChannelHits({n: scores[name] for n, name in named if name in scores})
