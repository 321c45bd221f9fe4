"""The index as a file: opened, known to be whole and of this version, made anew where it is not.

`index.sqlite` is a link to the file in use. A new index is built beside the old one and the link moved in one step:
a process that still has the old one open keeps reading it, and no journal of one file can meet another file.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from clawmem.index.tables.keyword import EngineMissing, KeywordEngine, open_engine
from clawmem.index.tables.schema import SPOKEN_WORDS, TABLES, VERSION
from clawmem.model.search.passage import SPREAD
from clawmem.vault.disk import files_below
from clawmem.vault.vault import Vault

# What reading a damaged file raises; text that is no UTF-8, SQLite's own words about its schema included, as well.
UNREADABLE = (sqlite3.Error, UnicodeError)
_BUSY_SECONDS = 10.0
_BOOT = "/proc/sys/kernel/random/boot_id"


class Index:
    """An open index. `engine` searches facts, `spoken` the pieces of events and notes; `notices` say what could not
    be done and why; `at` is the commit it last spoke of; `kept` says whether it outlives this process."""

    def __init__(
        self,
        database: sqlite3.Connection,
        engine: KeywordEngine,
        spoken: KeywordEngine,
        notices: tuple[str, ...] = (),
    ) -> None:
        self.database = database
        self.engine = engine
        self.passage_engine = spoken
        self.notices = notices
        self.at: str | None = None
        self.kept = True

    def head(self) -> str | None:
        """The commit the index speaks of now; other processes may have moved it on."""
        return self.meta("head")

    def set_head(self, commit: str) -> None:
        """Note the commit the index speaks of."""
        self.set_meta("head", commit)
        self.at = commit

    def meta(self, key: str) -> str | None:
        """A note the index keeps about itself."""
        row = self.database.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return row[0] if row else None

    def set_meta(self, key: str, value: str) -> None:
        """Keep a note."""
        self.database.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    @contextmanager
    def writing(self) -> Iterator[None]:
        """One SQLite transaction: all of it is kept or none."""
        self.database.execute("BEGIN IMMEDIATE")
        try:
            yield
            self.engine.flush()
            self.passage_engine.flush()
            self.database.execute("COMMIT")
        except BaseException:
            self.engine.discard_changes()
            self.passage_engine.discard_changes()
            roll_back(self.database)
            raise

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Reads that all see one state of the index, whatever is written meanwhile. Keep it short: a writer waits."""
        self.database.execute("BEGIN")
        try:
            yield
        finally:
            roll_back(self.database)

    def close(self) -> None:
        """Let go of the files."""
        self.engine.close()
        self.passage_engine.close()
        self.database.close()


def roll_back(database: sqlite3.Connection) -> None:
    """Drop the open transaction, which SQLite may have dropped by itself where the disk was full."""
    if database.in_transaction:
        database.execute("ROLLBACK")


def index_path(vault: Vault) -> Path:
    """Where the index lies; deleting it loses nothing."""
    return vault.state / "index.sqlite"


def index_size(vault: Vault) -> int:
    """The bytes the index takes on the disk, its keyword engine's files included."""
    own = os.path.realpath(index_path(vault)).removesuffix(".sqlite")
    parts = (path for path in files_below(vault.state) if not path.is_symlink() and str(path.resolve()).startswith(own))
    return sum(_bytes_of(path) for path in parts)


def _bytes_of(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0  # SQLite's own journals come and go


def open_store(vault: Vault) -> Index | None:
    """The index as it stands, or None where there is none that this version, boot and engine can use."""
    path = os.path.realpath(index_path(vault))
    try:
        number = os.stat(path).st_ino  # noqa: PTH116 - on every command's path
        index = _connect(vault, path)
    except (OSError, *UNREADABLE, EngineMissing):
        return None
    try:
        if index.meta("identity") == identity(index.engine.name, number) and _in_step(index):
            return index
    except (*UNREADABLE, EngineMissing):
        pass
    index.close()
    return None


def _in_step(index: Index) -> bool:
    if _both_in_sync(index):
        return True
    # A writer may be between its two commits: take the right to write, which waits for it, and look again.
    index.database.execute("BEGIN IMMEDIATE")
    try:
        return _both_in_sync(index)
    finally:
        roll_back(index.database)


def _both_in_sync(index: Index) -> bool:
    return index.engine.is_in_sync() and index.passage_engine.is_in_sync()


def identity(engine: str, number: int) -> str:
    """What must be the same for an index to be trusted: version, engine, boot, and the number of its file.

    The index is written without waiting for the disk, so after a power failure it may be torn; a new boot
    therefore means a new index. A copied file has another number: the copy may have been made during a write.
    """
    return f"{VERSION} {engine} {_boot()} {number}"


def create_store(vault: Vault, name: str) -> Index:
    """An empty index in a new file of that name, which nobody finds before `put_in_use`."""
    path = vault.state / f"index-{name}.sqlite"
    path.touch(mode=0o600, exist_ok=False)
    try:
        index = _connect(vault, str(path))
        # Until it is in use nobody needs a way back.
        index.database.execute("PRAGMA journal_mode = OFF")
        _initialise(index, identity(index.engine.name, path.stat().st_ino))
    except BaseException:
        delete_store(vault, name)
        raise
    return index


def create_temporary(vault: Vault) -> Index:
    """An empty index in a file of SQLite's own that nobody else sees and that goes with this process."""
    index = _connect(vault, None, "")
    _initialise(index, "to compare")
    return index


def create_in_memory(vault: Vault, reason: str) -> Index:
    """An empty index that lasts as long as this process, with a notice that says why."""
    index = _connect(vault, None)
    _initialise(index, "in memory")
    index.kept = False
    index.notices += (f"the index is built for this command only: {reason}",)
    return index


def activate_store(vault: Vault, index: Index, name: str) -> None:
    """Move the link to the new file and delete every other one."""
    index.database.execute("PRAGMA journal_mode = DELETE")
    target = f"index-{name}.sqlite"
    link = vault.state / f"index-{name}.link"
    link.symlink_to(target)
    os.replace(link, index_path(vault))  # noqa: PTH105
    _sweep(vault, keep=f"index-{name}.")


def delete_store(vault: Vault, name: str) -> None:
    """Delete a new index that could not be completed, so that it does not fill the disk."""
    (vault.state / f"index-{name}.sqlite").unlink(missing_ok=True)


def delete_index(vault: Vault) -> None:
    """Delete the index and everything that belongs to it."""
    index_path(vault).unlink(missing_ok=True)
    _sweep(vault, keep=None)


def _sweep(vault: Vault, keep: str | None) -> None:
    # A database goes before its journal: whoever has it open must find the journal as long as he may need it.
    for path in sorted(vault.state.glob("index-*"), key=lambda path: path.name.endswith("-journal")):
        if keep and path.name.startswith(keep):
            continue
        if path.is_dir():
            import shutil

            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def _connect(vault: Vault, path: str | None, passing: str = ":memory:") -> Index:
    address = f"file:{_quoted(path)}?mode=rw" if path else passing
    database = sqlite3.connect(address, timeout=_BUSY_SECONDS, isolation_level=None, uri=path is not None)
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


def _initialise(index: Index, known_as: str) -> None:
    index.database.executescript(TABLES)
    index.engine.prepare()
    index.passage_engine.prepare()
    index.set_meta("identity", known_as)


@cache
def _boot() -> str:
    try:
        with open(_BOOT, encoding="utf-8") as file:  # noqa: PTH123 - on every command's path
            return file.read().strip()
    except OSError:
        return "unknown"


def _quoted(path: str) -> str:
    return path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
