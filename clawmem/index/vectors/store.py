"""The vector store: one file beside the index, keyed by text and model, so that rebuilding the index does not lose it.

Deleting `.git/clawmem/vectors.sqlite` loses only the time to compute the vectors again.
"""

from __future__ import annotations

import os
import sqlite3
import struct
from collections.abc import Iterable, Sequence
from math import sqrt
from operator import mul
from pathlib import Path
from typing import NamedTuple

from clawmem.index.tables.schema import VECTORS_FILE, SqliteStore, connect
from clawmem.index.vectors.local_model import NUMBERS
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
