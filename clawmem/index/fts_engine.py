"""Keyword search by SQLite's FTS5, in the index's own file and transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence

from clawmem.index.keyword import Document, EngineMissing, Match
from clawmem.index.schema import FTS


class FtsEngine:
    """FTS5 over the table `words`, which holds an inverted index and no second copy of the texts."""

    name = "fts5"

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database
        try:
            known = database.execute("SELECT 1 FROM sqlite_master WHERE name = 'words'").fetchone()
            if known is None:
                database.execute(FTS)
        except sqlite3.OperationalError as problem:
            if "no such module" in str(problem):
                raise EngineMissing("this Python's SQLite has no FTS5") from None
            raise

    def add(self, documents: Iterable[Document]) -> None:
        """Index the texts."""
        self._database.executemany("INSERT INTO words (rowid, text) VALUES (?, ?)", documents)

    def remove(self, documents: Iterable[Document]) -> None:
        """Take the texts out; FTS5 needs the old text to know which entries to delete."""
        self._database.executemany("INSERT INTO words (words, rowid, text) VALUES ('delete', ?, ?)", documents)

    def search(self, words: Sequence[str], limit: int) -> list[Match]:
        """BM25 with FTS5's k1 1.2 and b 0.75; FTS5 counts downwards, so the sign is turned."""
        if not words:
            return []
        question = " OR ".join('"' + word.replace('"', '""') + '"' for word in words)
        rows = self._database.execute(
            "SELECT rowid, -bm25(words) FROM words WHERE words MATCH ? ORDER BY rank LIMIT ?", (question, limit)
        )
        return [Match(n, score) for n, score in rows]

    def flush(self) -> None:
        """Nothing to do: the index's own transaction keeps it."""
