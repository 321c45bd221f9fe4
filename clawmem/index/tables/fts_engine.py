"""Keyword search by SQLite's FTS5, in the index's own file and transaction."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence

from clawmem.index.tables.keyword import Document, EngineMissing, Match
from clawmem.index.tables.schema import FACT_WORDS, FTS

# Ranking a row costs about 2.5 microseconds, counting one a tenth of that: up to CHEAP rows nothing is worth saving.
CHEAP = 2_000
ENOUGH = 20


class FtsEngine:
    """FTS5 over a table that holds an inverted index and no second copy of the texts. Row numbers leave `spread - 1`
    numbers free between two texts, on either side of 0."""

    name = "fts5"

    def __init__(self, database: sqlite3.Connection, table: str = FACT_WORDS, spread: int = 1) -> None:
        self._database = database
        self._table = table
        self._spread = spread
        try:
            if not _has(database, table):
                # A new index, or one that another engine made: only a trial shows whether this one could.
                database.execute("CREATE VIRTUAL TABLE temp.trial USING fts5(text)")
                database.execute("DROP TABLE temp.trial")
        except sqlite3.OperationalError as problem:
            if "no such module" in str(problem):
                raise EngineMissing("this Python's SQLite has no FTS5") from None
            raise

    def prepare(self) -> None:
        """Make the table of words."""
        self._database.execute(FTS.format(table=self._table))

    def add(self, documents: Iterable[Document]) -> None:
        """Index the texts."""
        self._database.executemany(f"INSERT INTO {self._table} (rowid, text) VALUES (?, ?)", documents)

    def remove(self, documents: Iterable[Document]) -> None:
        """Take the texts out; FTS5 needs the old text to know which entries to delete."""
        table = self._table
        self._database.executemany(f"INSERT INTO {table} ({table}, rowid, text) VALUES ('delete', ?, ?)", documents)

    def search(self, words: Sequence[str], limit: int, thorough: bool = False) -> list[Match]:
        """BM25 with FTS5's k1 1.2 and b 0.75; FTS5 counts downwards, so the sign is turned.

        Where the words stand in so many texts that ranking them all would take long, the rarest are tried first.
        """
        phrases = _phrases(words)
        found: list[Match] = []
        if limit < 1:
            return found
        for question in self._questions(phrases)[-1 if thorough else 0 :]:
            found = self._run(question, limit)
            if len(found) >= min(limit, ENOUGH):
                break
        return found

    def search_among(self, rows: Collection[int], words: Sequence[str], limit: int) -> list[Match]:
        """The best of some texts. Only their ranks are worked out, which is what takes long where words are common."""
        phrases = _phrases(words)
        if not phrases or not rows or limit < 1:
            return []
        # `+` keeps SQLite from asking FTS5 for one row after the other, each time with all there is to know of a word.
        found = self._database.execute(
            f"SELECT rowid, -bm25({self._table}) AS score FROM {self._table} WHERE {self._table} MATCH ?"
            " AND +rowid IN (SELECT value FROM json_each(?)) ORDER BY score DESC, rowid LIMIT ?",
            (" OR ".join(phrases), f"[{','.join(map(str, rows))}]", limit),
        )
        return [Match(n, score) for n, score in found]

    def count(self, words: Sequence[str], most: int) -> int:
        """In how many texts one of the words stands, counted no further than `most`."""
        phrases = _phrases(words)
        return self._count(" OR ".join(phrases), most) if phrases else 0

    def flush(self) -> None:
        """Nothing to do: the index's own transaction keeps it."""

    def discard_changes(self) -> None:
        """Nothing to do: the index's own transaction drops it."""

    def is_in_sync(self) -> bool:
        """Always: both sides are one file."""
        return True

    def close(self) -> None:
        """Nothing of its own is open."""

    def _run(self, question: str, limit: int) -> list[Match]:
        rows = self._database.execute(
            f"SELECT rowid, -rank FROM {self._table} WHERE {self._table} MATCH ? ORDER BY rank, rowid LIMIT ?",
            (question, limit),
        )
        return [Match(n, score) for n, score in rows]

    def _questions(self, phrases: Sequence[str]) -> list[str]:
        """What to ask, narrow to wide; the last asks for any of the words."""
        if not phrases:
            return []
        widest = " OR ".join(phrases)
        total = self._total()
        if total <= CHEAP or len(phrases) == 1:
            return [widest]
        counts = {phrase: self._count(phrase, max(CHEAP, total // 10) + 1) for phrase in phrases}
        counts = {phrase: count for phrase, count in counts.items() if count}
        if sum(counts.values()) <= CHEAP:
            return [widest]
        return [*_narrow(counts, total // 10, max(CHEAP, total // 20)), widest]

    def _total(self) -> int:
        most, least = self._database.execute(
            f"SELECT (SELECT max(id) FROM {self._table}_docsize), (SELECT min(id) FROM {self._table}_docsize)"
        ).fetchone()
        return (max(most or 0, 0) - min(least or 0, 0)) // self._spread

    def _count(self, phrase: str, limit: int) -> int:
        query = f"SELECT count(*) FROM (SELECT 1 FROM {self._table} WHERE {self._table} MATCH ? LIMIT ?)"
        count: int = self._database.execute(query, (phrase, limit)).fetchone()[0]
        return count


def _has(database: sqlite3.Connection, table: str) -> bool:
    try:
        database.execute(f"SELECT 1 FROM {table} LIMIT 0")
    except sqlite3.OperationalError as problem:
        if "no such table" in str(problem):
            return False
        raise
    return True


def _narrow(counts: Mapping[str, int], common: int, most: int) -> list[str]:
    """What to ask before asking for any of the words: the rare ones, or where one only is rare that one with the
    others to rank by, or where none is all of them. Nothing where every word is rare.

    Rare are the words in at most `common` texts, and beyond the second no more than `most` texts together.
    """
    kept: list[str] = []
    together = 0
    for phrase in sorted(counts, key=lambda each: counts[each]):
        together += counts[phrase]
        if counts[phrase] > common or (len(kept) >= 2 and together > most):
            break
        kept.append(phrase)
    if len(kept) == len(counts):
        return []
    if len(kept) >= 2:
        return [" OR ".join(kept)]
    return [f"{kept[0]} AND ({' OR '.join(counts)})"] if kept else [" AND ".join(counts)]


def _phrases(words: Sequence[str]) -> list[str]:
    return [phrase for phrase in map(_phrase, dict.fromkeys(words)) if phrase]


def _phrase(word: str) -> str:
    """The word as an FTS5 string, in which nothing is an operator; empty where it has no letter or digit."""
    if not any(character.isalnum() for character in word):
        return ""
    return '"' + word.replace('"', '""').replace("\0", " ") + '"'
