"""SQLite files with a table `meta`: their transactions, and the values that they store about themselves."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager


class SqliteStore:
    """An open SQLite file. A subclass can keep parts of its data elsewhere, and store them with each transaction."""

    def __init__(self, database: sqlite3.Connection) -> None:
        self.database = database

    def meta(self, key: str) -> str | None:
        """Return a value that the store keeps about itself."""
        row = self.database.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return row[0] if row else None

    def set_meta(self, key: str, value: str) -> None:
        """Store such a value."""
        self.database.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Run one transaction: all of it is stored or nothing."""
        self.database.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._flush()
            self.database.execute("COMMIT")
        except BaseException:
            self._discard_changes()
            roll_back(self.database)
            raise

    @contextmanager
    def snapshot(self) -> Iterator[None]:
        """Let all reads in this context see the same state. Keep it short, because writers wait."""
        self.database.execute("BEGIN")
        try:
            yield
        finally:
            roll_back(self.database)

    def close(self) -> None:
        """Close the files."""
        self.database.close()

    def _flush(self) -> None:
        """Write what is not in the database, before each commit."""

    def _discard_changes(self) -> None:
        """Forget what `_flush` would write, before each rollback."""


def roll_back(database: sqlite3.Connection) -> None:
    """Roll back the open transaction, unless SQLite did so itself because the disk was full."""
    if database.in_transaction:
        database.execute("ROLLBACK")


def connect(path: str, mode: str, seconds: float) -> sqlite3.Connection:
    """Open an existing file with `mode` "rw", or any with "rwc", and wait up to `seconds` for other processes."""
    quoted = path.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    return sqlite3.connect(f"file:{quoted}?mode={mode}", timeout=seconds, isolation_level=None, uri=True)
