"""The index as a file: opened, known to be whole and of this version, made anew where it is not."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from clawmem.index.keyword import EngineMissing, KeywordEngine, open_engine
from clawmem.index.schema import TABLES, VERSION
from clawmem.vault.vault import Vault

_BUSY_SECONDS = 10.0
_BOOT = Path("/proc/sys/kernel/random/boot_id")


class Index:
    """An open index. `notices` say what could not be done and why."""

    def __init__(self, database: sqlite3.Connection, engine: KeywordEngine, notices: tuple[str, ...] = ()) -> None:
        self.database = database
        self.engine = engine
        self.notices = notices

    def head(self) -> str | None:
        """The commit the index speaks of."""
        return self.meta("head")

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
        except BaseException:
            self.database.execute("ROLLBACK")
            raise
        self.database.execute("COMMIT")

    def close(self) -> None:
        """Let go of the file."""
        self.database.close()


def index_path(vault: Vault) -> Path:
    """Where the index lies; deleting it loses nothing."""
    return vault.state / "index.sqlite"


def open_store(vault: Vault) -> Index | None:
    """The index file as it stands, or None where there is none that this version, boot and engine can use."""
    path = index_path(vault)
    if not path.exists():
        return None
    try:
        index = _connect(vault, f"file:{_quoted(path)}?mode=rw")
        if index.meta("identity") == identity(vault):
            return index
        index.close()
    except (sqlite3.DatabaseError, EngineMissing):
        return None
    return None


def create_store(vault: Vault) -> Index:
    """An empty index in place of whatever is there; in memory where the vault cannot be written."""
    try:
        vault.prepare_state()
        discard(vault)
        index = _connect(vault, f"file:{_quoted(index_path(vault))}?mode=rwc")
        _initialise(vault, index)
    except (OSError, sqlite3.OperationalError) as problem:
        index = _connect(vault, ":memory:")
        _initialise(vault, index)
        index.notices += (f"the index is rebuilt for every command, because it cannot be kept: {problem}",)
    return index


def discard(vault: Vault) -> None:
    """Delete the index and everything that belongs to it."""
    path = index_path(vault)
    for ending in ("", "-journal", "-wal", "-shm"):
        path.with_name(path.name + ending).unlink(missing_ok=True)
    folder = vault.state / "whoosh"
    if folder.exists():
        import shutil

        shutil.rmtree(folder)


def identity(vault: Vault) -> str:
    """What must be the same for an index to be trusted: its version, its engine, and the boot it was written in.

    The index is written without waiting for the disk, so after a power failure it may be torn; a new boot
    therefore means a new index.
    """
    try:
        boot = _BOOT.read_text(encoding="ascii").strip()
    except OSError:
        boot = "unknown"
    return f"{VERSION} {vault.settings.get('index.keyword')} {boot}"


def _connect(vault: Vault, address: str) -> Index:
    database = sqlite3.connect(address, timeout=_BUSY_SECONDS, isolation_level=None, uri=address.startswith("file:"))
    database.execute("PRAGMA synchronous = OFF")
    wanted = str(vault.settings.get("index.keyword"))
    try:
        return Index(database, open_engine(wanted, database, vault.state))
    except EngineMissing as problem:
        other = "whoosh" if wanted == "fts5" else "fts5"
        engine = open_engine(other, database, vault.state)
        return Index(database, engine, (f"keyword search runs on {other}: {problem}",))


def _initialise(vault: Vault, index: Index) -> None:
    index.database.executescript(TABLES)
    index.set_meta("identity", identity(vault))


def _quoted(path: Path) -> str:
    return str(path).replace("%", "%25").replace("?", "%3f").replace("#", "%23")
