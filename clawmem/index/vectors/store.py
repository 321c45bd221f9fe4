"""The vectors on disk: one file beside the index, keyed by text and model, so that a new index does not lose them.

Deleting `.git/clawmem/vectors.sqlite` loses nothing but the time to make them again.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from clawmem.index.tables.schema import VECTORS_FILE
from clawmem.index.tables.store import roll_back
from clawmem.model.records.seal import checksum
from clawmem.vault.vault import Vault

VERSION = "2"
FACTS, EVENTS, NOTES = "facts", "events", "notes"
# What `semantic.model` says besides the names of models that are called.
LOCAL, NONE = "local", "none"
KEY_SIZE = 16
_BUSY_SECONDS = 2.0
_PATIENCE = 30.0
_AT_ONCE = 500

# `vector` is every text that was embedded. `pack` is what a search reads in one go: ids, one a line, and for each its
# key and its signs, end to end. `piece` is the vocabulary of the local model: what a piece
# means by itself, what it means in this vault, and how much it says.
_TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE vector (model TEXT NOT NULL, key BLOB NOT NULL, value BLOB NOT NULL, PRIMARY KEY (model, key));
CREATE TABLE pack (
    kind TEXT PRIMARY KEY, ids TEXT NOT NULL, keys BLOB NOT NULL, codes BLOB NOT NULL
);
CREATE TABLE piece (piece TEXT PRIMARY KEY, prior BLOB, fitted BLOB, weight REAL) WITHOUT ROWID;
"""


class VectorPack(NamedTuple):
    """The texts of one kind in the order they stand: whose they are, the keys of their vectors, and their signs."""

    ids: tuple[str, ...]
    keys: bytes
    codes: bytes


class VectorsDamaged(sqlite3.DatabaseError):
    """The file of vectors does not hold what it should; the heartbeat makes it anew."""


class Vectors:
    """The open file of vectors."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self.database = database

    def meta(self, key: str) -> str | None:
        """A note the file keeps about itself; `model` is the one its packs and pieces are of."""
        row = self.database.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return row[0] if row else None

    def set_meta(self, key: str, value: str) -> None:
        """Keep a note."""
        self.database.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    def values(self, model: str, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        """The packed vectors of those of the keys that have one."""
        found: dict[bytes, bytes] = {}
        asked = list(dict.fromkeys(keys))
        for start in range(0, len(asked), _AT_ONCE):
            part = asked[start : start + _AT_ONCE]
            query = f"SELECT key, value FROM vector WHERE model = ? AND key IN ({','.join('?' * len(part))})"
            found.update(self.database.execute(query, (model, *part)))
        return found

    def keys(self, model: str) -> set[bytes]:
        """The keys of every vector of the model."""
        return {row[0] for row in self.database.execute("SELECT key FROM vector WHERE model = ?", (model,))}

    def put(self, model: str, vectors: Iterable[tuple[bytes, bytes]]) -> None:
        """Keep vectors by their keys."""
        rows = ((model, key, value) for key, value in vectors)
        with self.writing():
            self.database.executemany("INSERT OR REPLACE INTO vector VALUES (?, ?, ?)", rows)

    def pack(self, kind: str) -> VectorPack:
        """What a search of one kind reads; empty before the first heartbeat that embeds. Raises VectorsDamaged."""
        row = self.database.execute("SELECT ids, keys, codes FROM pack WHERE kind = ?", (kind,)).fetchone()
        if row is None:
            return VectorPack((), b"", b"")
        ids = tuple(row[0].split("\n")) if row[0] else ()
        if len(row[1]) != KEY_SIZE * len(ids) or (ids and len(row[2]) % len(ids)):
            raise VectorsDamaged(f"the vectors of {kind} are not whole")
        return VectorPack(ids, row[1], row[2])

    def set_pack(self, kind: str, pack: VectorPack) -> None:
        """Keep what a search of one kind reads, as part of the open transaction."""
        row = (kind, "\n".join(pack.ids), pack.keys, pack.codes)
        self.database.execute("INSERT OR REPLACE INTO pack VALUES (?, ?, ?, ?)", row)

    @contextmanager
    def writing(self) -> Iterator[None]:
        """One transaction: all of it is kept or none."""
        self.database.execute("BEGIN IMMEDIATE")
        try:
            yield
            self.database.execute("COMMIT")
        except BaseException:
            roll_back(self.database)
            raise

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Reads that all see one state of the file."""
        self.database.execute("BEGIN")
        try:
            yield
        finally:
            roll_back(self.database)

    def close(self) -> None:
        """Let go of the file."""
        self.database.close()


def vectors_path(vault: Vault) -> Path:
    """Where the vectors lie. The vault of a past commit shares them: they belong to texts."""
    return (vault.present or vault).state / VECTORS_FILE


def named_model(vault: Vault) -> str:
    """The model of the settings and where it is served: vectors of another are of no use."""
    settings = vault.settings
    return f"{settings.words('semantic.model')} {settings.words('semantic.api_base')}".strip()


def of_questions(model: str) -> str:
    """The name under which the vectors of questions to a model that is called are kept."""
    return f"{model} question"


def note_name(page: str, text: str) -> str:
    """The id of a line of a note in its pack: its words and its page, for its place there and its row change with every
    line before it."""
    return f"{checksum(text):08x} {page}"


def page_of(name: str) -> str:
    """The page of a line of that id."""
    return name.partition(" ")[2]


def open_vectors(vault: Vault) -> Vectors | None:
    """The vectors as they stand, or None where there are none that this version can use."""
    path = vectors_path(vault)
    if not os.path.exists(path):  # noqa: PTH110 - on the path of every search
        return None
    try:
        vectors = _connect(path, "rw", _BUSY_SECONDS)
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


def make_vectors(vault: Vault) -> Vectors:
    """The vectors to write to; begun anew where they are damaged, of another version, or not there."""
    vault.prepare_state()
    path = vectors_path(vault)
    try:
        vectors = open_vectors(vault)
        if vectors is not None and _is_whole(vectors):
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
    vectors = _connect(path, "rwc", _PATIENCE)
    with vectors.writing():
        for statement in _TABLES.split(";"):
            vectors.database.execute(statement)
        vectors.set_meta("version", VERSION)
    return vectors


def _is_whole(vectors: Vectors) -> bool:
    row = vectors.database.execute("PRAGMA quick_check(1)").fetchone()
    if row != ("ok",):
        return False
    for kind in (FACTS, EVENTS, NOTES):
        vectors.pack(kind)
    return True


def _connect(path: Path, mode: str, patience: float) -> Vectors:
    quoted = str(path).replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    address = f"file:{quoted}?mode={mode}"
    return Vectors(sqlite3.connect(address, timeout=patience, isolation_level=None, uri=True))
