"""The index as a file: opened and checked for its version, created again if it cannot be used.

`index.sqlite` is a link to the current file. A new index is built beside the old one, and the link is moved in one
step. A process that has the old file open keeps reading it, and no journal of one file can be applied to another.

Duplicate ids: ids in more than one file of facts, which only merges and copies by other tools cause.
"""

from __future__ import annotations

import os
import sqlite3
from _thread import get_ident  # hot verbs do not import `threading`
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from clawmem.index.tables.keyword import EngineMissing, KeywordEngine, open_engine
from clawmem.index.tables.schema import SPOKEN_WORDS, TABLES, VERSION, SqliteStore, connect, roll_back
from clawmem.model.kinds import ITEMS_FILE, file_kind
from clawmem.model.records.entity import name_of_path
from clawmem.model.search.passage import SPREAD
from clawmem.platform.files import linked_path, set_link
from clawmem.vault.disk import files_below
from clawmem.vault.vault import Vault

# Errors of reading a damaged file, including text that is not UTF-8, such as SQLite's own schema.
UNREADABLE = (sqlite3.Error, UnicodeError)
_BUSY_SECONDS = 10.0
_BOOT = "/proc/sys/kernel/random/boot_id"
# Within `stores_kept_open`: the index of each vault that is open between two queries, by the path of its link.
_KEPT_OPEN: dict[Path, Index] = {}
_keeps_open = False
# SQLite refuses an index in another thread than the one that opened it, so only this one leaves indexes open.
_keeping_thread = 0


class Index(SqliteStore):
    """An open index.

    `engine` searches facts, `passage_engine` the pieces of events and notes. `notices` say what could not be done. `at`
    is the commit that it was last known to describe. `kept` says whether it outlives this process. `is_restricted`
    means that it shows only what somebody may see: files and the history then show more. `is_cut` tells
    of a mark, or None, whether only parts are shown of the messages with it.
    """

    def __init__(
        self,
        database: sqlite3.Connection,
        engine: KeywordEngine,
        spoken: KeywordEngine,
        notices: tuple[str, ...] = (),
    ) -> None:
        super().__init__(database)
        self.engine = engine
        self.passage_engine = spoken
        self.notices = notices
        self.at: str | None = None
        self.kept = True
        self.is_restricted = False
        self.is_cut: Callable[[str | None], bool] = lambda _: False
        # What was last shown to somebody who may not see everything, by the state of the index and their rights.
        self.shown: tuple[object, Any] | None = None
        # The inode and the path of the file, and the keyword engine that was asked for.
        self.place: tuple[int, str, str] | None = None

    def head(self) -> str | None:
        """Return the commit that the index describes now. Other processes may have updated it."""
        return self.meta("head")

    def set_head(self, commit: str) -> None:
        """Store the commit that the index describes."""
        self.set_meta("head", commit)
        self.at = commit

    def close(self) -> None:
        """Close the files."""
        self.engine.close()
        self.passage_engine.close()
        super().close()

    def _flush(self) -> None:
        self.engine.flush()
        self.passage_engine.flush()

    def _discard_changes(self) -> None:
        self.engine.discard_changes()
        self.passage_engine.discard_changes()


def index_path(vault: Vault) -> Path:
    """Return the path of the index. Deleting it loses no data."""
    return vault.state / "index.sqlite"


def index_size(vault: Vault) -> int:
    """Return the size of the index on disk in bytes, including the files of its keyword engine."""
    own = linked_path(index_path(vault)).removesuffix(".sqlite")
    parts = (path for path in files_below(vault.state) if not path.is_symlink() and str(path.resolve()).startswith(own))
    return sum(_bytes_of(path) for path in parts)


def _bytes_of(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0  # a temporary journal of SQLite


def open_store(vault: Vault) -> Index | None:
    """Return the current index, or None if there is none that this version, boot and engine can use."""
    path = linked_path(index_path(vault))
    try:
        number = os.stat(path).st_ino  # noqa: PTH116 - runs in every command
        place = (number, path, vault.settings.words("index.keyword"))
        index = _open_already(vault, place) or _connect(vault, path)
    except (OSError, *UNREADABLE, EngineMissing):
        return None
    index.place = place
    try:
        if index.meta("identity") == identity(index.engine.name, number) and _in_step(index):
            return index
    except (*UNREADABLE, EngineMissing):
        pass
    index.close()
    return None


@contextmanager
def stores_kept_open() -> Iterator[None]:
    """Leave the index of each vault open between two queries in this context.

    SQLite then keeps its pages and statements. Before each query it compares the change counter in the file, and drops
    its pages where another process has written. The identity is checked as for a file that was just opened.
    """
    global _keeps_open, _keeping_thread
    if _keeps_open:
        yield
        return
    _keeps_open, _keeping_thread = True, get_ident()
    try:
        yield
    finally:
        _keeps_open = False
        while _KEPT_OPEN:
            _KEPT_OPEN.popitem()[1].close()


def put_back(vault: Vault, index: Index) -> None:
    """Close an index after a query that succeeded, or leave it open for the next one."""
    link = index_path(vault)
    # Only SQLite notices what another process writes. A past commit is seldom asked twice.
    keeps = _keeps_open and get_ident() == _keeping_thread and vault.present is None
    keeps = keeps and index.place is not None and index.engine.name == "fts5"
    if not keeps or link in _KEPT_OPEN:
        index.close()
    else:
        _KEPT_OPEN[link] = index


def _open_already(vault: Vault, place: tuple[int, str, str]) -> Index | None:
    """Return the index that was left open, if it is the one in this place; else close it."""
    index = _KEPT_OPEN.pop(index_path(vault), None)
    if index is None or index.place == place:
        return index
    index.close()
    return None


def _in_step(index: Index) -> bool:
    if _both_in_sync(index):
        return True
    # A writer may be between its two commits. Take the write lock, which waits for it, and check again.
    index.database.execute("BEGIN IMMEDIATE")
    try:
        return _both_in_sync(index)
    finally:
        roll_back(index.database)


def _both_in_sync(index: Index) -> bool:
    return index.engine.is_in_sync() and index.passage_engine.is_in_sync()


def identity(engine: str, number: int) -> str:
    """Return the identity of a usable index: version, engine, boot, and inode of its file.

    The index is written without waiting for the disk, so it may be torn after a power failure. Therefore a new boot
    needs a new index. A copied file has another inode, because it may have been copied during a write.
    """
    return f"{VERSION} {engine} {_boot()} {number}"


def create_store(vault: Vault, name: str) -> Index:
    """Create an empty index in a new file, which no other process uses before `activate_store`."""
    path = vault.state / f"index-{name}.sqlite"
    path.touch(mode=0o600, exist_ok=False)
    try:
        index = _connect(vault, str(path))
        # No rollback is needed before it is active.
        index.database.execute("PRAGMA journal_mode = OFF")
        _initialise(index, identity(index.engine.name, path.stat().st_ino))
    except BaseException:
        delete_store(vault, name)
        raise
    return index


def create_in_memory(vault: Vault, reason: str) -> Index:
    """Create an empty index in memory for this process, with a notice that says why."""
    index = _connect(vault, None)
    _initialise(index, "in memory")
    index.kept = False
    index.notices += (f"the index is built for this command only: {reason}",)
    return index


def activate_store(vault: Vault, index: Index, name: str) -> None:
    """Point the link to the new file and delete all others."""
    index.database.execute("PRAGMA journal_mode = DELETE")
    set_link(index_path(vault), f"index-{name}.sqlite", vault.state / f"index-{name}.link")
    _sweep(vault, keep=f"index-{name}.")


def delete_store(vault: Vault, name: str) -> None:
    """Delete a new index that could not be completed, so that it does not fill the disk."""
    (vault.state / f"index-{name}.sqlite").unlink(missing_ok=True)


def delete_index(vault: Vault) -> None:
    """Delete the index and everything that belongs to it."""
    index_path(vault).unlink(missing_ok=True)
    _sweep(vault, keep=None)


def _sweep(vault: Vault, keep: str | None) -> None:
    # Delete a database before its journal: a process that has it open may still need the journal.
    for path in sorted(vault.state.glob("index-*"), key=lambda path: path.name.endswith("-journal")):
        if keep and path.name.startswith(keep):
            continue
        if path.is_dir():
            import shutil

            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def _connect(vault: Vault, path: str | None) -> Index:
    if path:
        database = connect(path, "rw", _BUSY_SECONDS)
    else:
        database = sqlite3.connect(":memory:", timeout=_BUSY_SECONDS, isolation_level=None)
    try:
        if path is None or _boot() != "unknown":
            database.execute("PRAGMA synchronous = OFF")
        return _with_engines(vault, database, None if path is None else path.removesuffix(".sqlite"))
    except BaseException:
        database.close()
        raise


def _with_engines(vault: Vault, database: sqlite3.Connection, stem: str | None) -> Index:
    wanted = vault.settings.words("index.keyword")
    try:
        return Index(database, *_engines(wanted, database, stem))
    except EngineMissing as problem:
        other = "whoosh" if wanted == "fts5" else "fts5"
        notice = f"keyword search runs on {other}: {problem}"
        return Index(database, *_engines(other, database, stem), (notice,))


def _engines(name: str, database: sqlite3.Connection, stem: str | None) -> tuple[KeywordEngine, KeywordEngine]:
    facts, spoken = (None, None) if stem is None else (Path(f"{stem}.whoosh"), Path(f"{stem}.{SPOKEN_WORDS}.whoosh"))
    return open_engine(name, database, facts), open_engine(name, database, spoken, SPOKEN_WORDS, SPREAD)


def _initialise(index: Index, identity: str) -> None:
    index.database.executescript(TABLES)
    index.engine.prepare()
    index.passage_engine.prepare()
    index.set_meta("identity", identity)


@cache
def _boot() -> str:
    try:
        with open(_BOOT, encoding="utf-8") as file:  # noqa: PTH123 - runs in every command
            return file.read().strip()
    except OSError:
        return "unknown"


_DUPLICATES = "SELECT id FROM fact GROUP BY id HAVING count(*) > 1"
_DUPLICATES_OF_ENTITY = (
    "SELECT id FROM fact AS one WHERE entity = ? AND EXISTS (SELECT 1 FROM fact WHERE id = one.id AND n != one.n)"
)


def duplicate_ids(index: Index, paths: Iterable[str] | None = None) -> dict[str, tuple[str, ...]]:
    """Return duplicate ids with their entities. With `paths`, only ids in these files are checked."""
    if paths is None:
        rows = index.database.execute(_DUPLICATES).fetchall()
    else:
        names = {name_of_path(path) for path in paths if file_kind(path) is ITEMS_FILE} - {None}
        rows = [
            row
            for name in sorted(filter(None, names))
            for row in index.database.execute(_DUPLICATES_OF_ENTITY, (name,))
        ]
    return {fact_id: _entities(index, fact_id) for (fact_id,) in rows}


def _entities(index: Index, fact_id: str) -> tuple[str, ...]:
    rows = index.database.execute("SELECT entity FROM fact WHERE id = ? ORDER BY entity", (fact_id,))
    return tuple(entity for (entity,) in rows)
