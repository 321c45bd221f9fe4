"""The vector store, one file beside the index, keyed by text and model, so that rebuilding the index does not lose it.

Deleting `.git/clawmem/vectors.sqlite` loses only the time to compute the vectors again. The vector channel finds in it
the facts, events and notes whose meaning is close to the question.
"""

import json
import os
import sqlite3
import struct
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from heapq import nsmallest
from math import sqrt
from operator import mul
from pathlib import Path
from typing import NamedTuple

from clawmem.errors import ModelFailed
from clawmem.index.search.channels import CANDIDATES, ChannelHits, FactFilter, condition_of, passing_ids
from clawmem.index.tables.schema import VECTORS_FILE, SqliteStore, connect
from clawmem.index.tables.store import Index
from clawmem.index.vectors.local_model import NAME, NUMBERS, question_vector
from clawmem.model.records.layout import agent_of
from clawmem.model.records.strict_json import checksum
from clawmem.vault.vault import Vault

VERSION = "3"
FACTS, EVENTS, NOTES = "facts", "events", "notes"
# The values of `semantic.model`.
LOCAL, NONE = "local", "none"
KEY_SIZE = 16
_CENTRE = struct.Struct(f"<{1 + NUMBERS}f")
_BUSY_SECONDS = 2.0
_PATIENCE = 30.0
_BATCH = 500

# `vector` has every embedded text. `pack` is what a search reads at once: ids, one per line, with the concatenated keys
# and the signs of the vectors less the centre.
_TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE vector (model TEXT NOT NULL, key BLOB NOT NULL, value BLOB NOT NULL, PRIMARY KEY (model, key));
CREATE TABLE pack (
    kind TEXT PRIMARY KEY, ids TEXT NOT NULL, keys BLOB NOT NULL, codes BLOB NOT NULL
);
"""


class VectorPack(NamedTuple):
    """The texts of one kind in order: the ids of their sources, the keys of their vectors, and the signs of their
    vectors less the centre."""

    ids: tuple[str, ...]
    keys: bytes
    codes: bytes


class Centre(NamedTuple):
    """What the vectors of a vault share: their mean, and how far they are from it, as the root of the mean square.

    All vectors of the model are within a narrow cone. Less the mean, a question is close to what is said about its
    subject, and not to what is said as people mostly speak.
    """

    mean: Sequence[float]
    spread: float


class VectorsDamaged(sqlite3.DatabaseError):
    """The vector store is invalid. The heartbeat rebuilds it."""


class Vectors(SqliteStore):
    """The open vector store. Its value `model` is the model of its packs."""

    def values(self, model: str, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        """Return the packed vectors of those keys that have one."""
        found: dict[bytes, bytes] = {}
        asked = list(dict.fromkeys(keys))
        for start in range(0, len(asked), _BATCH):
            part = asked[start : start + _BATCH]
            query = f"SELECT key, value FROM vector WHERE model = ? AND key IN ({','.join('?' * len(part))})"
            found.update(self.database.execute(query, (model, *part)))
        return found

    def keys(self, model: str) -> set[bytes]:
        """Return the keys of all vectors of a model."""
        return {row[0] for row in self.database.execute("SELECT key FROM vector WHERE model = ?", (model,))}

    def store_vectors(self, model: str, vectors: Iterable[tuple[bytes, bytes]]) -> None:
        """Store packed vectors by key."""
        rows = ((model, key, value) for key, value in vectors)
        with self.writing():
            self.database.executemany("INSERT OR REPLACE INTO vector VALUES (?, ?, ?)", rows)

    def pack(self, kind: str) -> VectorPack:
        """Return what a search of one kind reads; empty before the first embedding. Raise VectorsDamaged."""
        row = self.database.execute("SELECT ids, keys, codes FROM pack WHERE kind = ?", (kind,)).fetchone()
        if row is None:
            return VectorPack((), b"", b"")
        ids = tuple(row[0].split("\n")) if row[0] else ()
        if len(row[1]) != KEY_SIZE * len(ids) or (ids and len(row[2]) % len(ids)):
            raise VectorsDamaged(f"the vectors of {kind} are damaged")
        return VectorPack(ids, row[1], row[2])

    def set_pack(self, kind: str, pack: VectorPack) -> None:
        """Store what a search of one kind reads, in the open transaction."""
        row = (kind, "\n".join(pack.ids), pack.keys, pack.codes)
        self.database.execute("INSERT OR REPLACE INTO pack VALUES (?, ?, ?, ?)", row)

    def centre(self) -> Centre | None:
        """Return the centre of the packs, or None before the first embedding. Raise VectorsDamaged if it is invalid."""
        if (text := self.meta("centre")) is None:
            return None
        try:
            spread, *mean = _CENTRE.unpack(bytes.fromhex(text))
        except (ValueError, struct.error):
            raise VectorsDamaged("the centre of the vectors is damaged") from None
        return Centre(mean, spread)

    def set_centre(self, centre: Centre) -> None:
        """Store the centre of the packs, in the open transaction."""
        self.set_meta("centre", _CENTRE.pack(centre.spread, *centre.mean).hex())


def vectors_path(vault: Vault) -> Path:
    """Return the path of the store. Past versions of the vault share it, because vectors are keyed by text."""
    return (vault.present or vault).state / VECTORS_FILE


def note_id(page: str, text: str) -> str:
    """Return the id of a note line in its pack: text and page, as its position changes with every line before it."""
    return f"{checksum(text):08x} {page}"


def key_of(words: str) -> bytes:
    """Return the key of a text's vector: the first 16 bytes of its SHA-256."""
    from hashlib import sha256

    return sha256(words.encode(errors="surrogatepass")).digest()[:16]


def page_of_note_id(name: str) -> str:
    """Return the page of a note line from its id."""
    return name.partition(" ")[2]


def open_vectors(vault: Vault) -> Vectors | None:
    """Return the vector store, or None if there is none that this version can use."""
    path = vectors_path(vault)
    if not os.path.exists(path):  # noqa: PTH110 - runs in every search
        return None
    try:
        vectors = Vectors(connect(str(path), "rw", _BUSY_SECONDS))
    except sqlite3.OperationalError:
        return None
    try:
        if vectors.meta("version") == VERSION:
            return vectors
    except sqlite3.OperationalError as problem:
        if "locked" in str(problem):
            vectors.close()
            raise
    except BaseException:
        vectors.close()
        raise
    vectors.close()
    return None


def open_or_create_vectors(vault: Vault) -> Vectors:
    """Return the vector store for writing. It is created again if it is damaged or from another version."""
    vault.prepare_state()
    path = vectors_path(vault)
    try:
        vectors = open_vectors(vault)
        if vectors is not None and _is_intact(vectors):
            vectors.database.execute(f"PRAGMA busy_timeout = {int(_PATIENCE * 1000)}")
            return vectors
    except sqlite3.DatabaseError as problem:
        if isinstance(problem, sqlite3.OperationalError) and "locked" in str(problem):
            raise
        vectors = None
    if vectors is not None:
        vectors.close()
    for name in (path, path.with_name(f"{VECTORS_FILE}-journal")):
        name.unlink(missing_ok=True)
    path.touch(mode=0o600)
    vectors = Vectors(connect(str(path), "rwc", _PATIENCE))
    with vectors.writing():
        for statement in _TABLES.split(";"):
            vectors.database.execute(statement)
        vectors.set_meta("version", VERSION)
    return vectors


def _is_intact(vectors: Vectors) -> bool:
    row = vectors.database.execute("PRAGMA quick_check(1)").fetchone()
    if row != ("ok",):
        return False
    for kind in (FACTS, EVENTS, NOTES):
        vectors.pack(kind)
    return True


_LARGEST = 127


def normalize_vector(numbers: Sequence[float]) -> list[float]:
    """Return the vector scaled to length one; a zero vector stays as it is."""
    length = sqrt(sum(map(mul, numbers, numbers)))
    return [number / length for number in numbers] if length else list(numbers)


def pack_vector(numbers: Sequence[float]) -> bytes:
    """Return the vector as one byte per number, after a four-byte scale factor."""
    largest = max(map(abs, numbers), default=0.0)
    scale = largest / _LARGEST if largest else 1.0
    whole = [round(number / scale) for number in numbers]
    return struct.pack(f"<f{len(whole)}b", scale, *whole)


def packed_product(question: Sequence[float], data: bytes) -> float:
    """Return the inner product of a vector and a packed vector."""
    (scale,) = struct.unpack_from("<f", data)
    return float(scale * sum(map(mul, question, memoryview(data)[4:].cast("b"))))


def sign_bits(numbers: Sequence[float]) -> bytes:
    """Return one bit per number, set if it is above zero; the last byte is padded with zeros."""
    width = code_size(len(numbers))
    bits = "".join("1" if number > 0 else "0" for number in numbers)
    return int(bits.ljust(width * 8, "0") or "0", 2).to_bytes(width, "big")


def code_size(numbers: int) -> int:
    """Return the number of bytes for the sign bits of this many numbers."""
    return (numbers + 7) // 8


def hamming_distances(codes: bytes, question: bytes) -> list[int]:
    """Return, for each of the concatenated codes, the number of bits that differ from the question's.

    It grows with the angle between two texts, as for random hyperplanes (Charikar, 2002).
    """
    wanted, read = int.from_bytes(question, "big"), int.from_bytes
    return [(read(code, "big") ^ wanted).bit_count() for (code,) in struct.iter_unpack(f"{len(question)}s", codes)]


_ENOUGH = 20
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
    """The channel does not run; the message says why. The package asked already whether it is wanted."""


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


def beyond_names(vault: Vault, question: str, names: str) -> float | None:
    """Return how much closer a text is at most to a question than to its `names` alone; None without vectors."""
    try:
        with _query(vault, question) as query, _query(vault, f"what about {names}?") as other:
            rest = [number - named for number, named in zip(query.vector, other.vector, strict=True)]
            apart = query._replace(vector=rest, shared=query.shared - other.shared)
            return max(max(_nearest(apart, kind).values(), default=0.0) for kind in (FACTS, EVENTS, NOTES))
    except VectorsUnavailable:
        return None


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
