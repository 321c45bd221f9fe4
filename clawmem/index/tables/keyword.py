"""The interface of keyword engines, which rank texts by BM25, the choice of one, and the engine of SQLite's FTS5."""

import math
import sqlite3
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import repeat
from pathlib import Path
from typing import Protocol

from clawmem.index.tables.schema import FACT_WORDS, FTS
from clawmem.model.language.languages import spaced
from clawmem.model.named_tuple import NamedTuple
from clawmem.model.search.ranking import BACKGROUND, word_weight


class Document(NamedTuple):
    """A text to index: its row number and its words."""

    n: int
    text: str


class Match(NamedTuple):
    """A matching text and its BM25 score; higher is better."""

    n: int
    score: float


class KeywordEngine(Protocol):
    """Ranks texts for a set of words, any of which may match, after English stemming and without accents.

    A word of several parts, such as `don't` or `e-mail`, matches if its parts are adjacent. Each Chinese or Japanese
    character is a part.
    """

    name: str

    def prepare(self) -> None:
        """Create the engine's storage in a new, empty index."""

    def add(self, documents: Iterable[Document]) -> None:
        """Index the texts."""

    def remove(self, documents: Iterable[Document]) -> None:
        """Remove the texts, which must be given exactly as they were added."""

    def search(self, words: Sequence[str], limit: int, thorough: bool = False) -> list[Match]:
        """Return the best texts with at least one of the words, best first; of equal ones the lower row first.

        Unless `thorough`, an engine may skip texts that contain only common words if there are many.
        """

    def search_among(self, rows: Collection[int], words: Sequence[str], limit: int) -> list[Match]:
        """Return the best of the given texts, with their scores among all texts, in the same order, thoroughly."""

    def having(self, rows: Collection[int], words: Sequence[str]) -> set[int]:
        """Return those of the given texts that have one of the words."""

    def rows(self, words: Sequence[str], most: int) -> list[int]:
        """Return the texts that have one of the words, at most `most`, in no order."""

    def terms(self, begin: str) -> list[str]:
        """Return the words of all texts, without endings and accents, that begin with some letters."""

    def count(self, words: Sequence[str], most: int) -> int:
        """Return how many texts contain one of the words, at most `most`."""

    def flush(self) -> None:
        """Store what was added and removed since the last flush, as part of the open SQLite transaction."""

    def discard_changes(self) -> None:
        """Discard what was added and removed since the last flush."""

    def is_in_sync(self) -> bool:
        """Return whether the engine contains exactly the texts that the SQLite side expects."""

    def close(self) -> None:
        """Close files."""


class EngineMissing(Exception):
    """The engine cannot run on this machine; the message says why."""


class EngineDamaged(sqlite3.DatabaseError):
    """The engine's files cannot be read; the index must be rebuilt."""


def open_engine(
    name: str, database: sqlite3.Connection, folder: Path | None, table: str = FACT_WORDS, spread: int = 1
) -> KeywordEngine:
    """Return the named engine for one of the index's collections of texts. Raise EngineMissing if it is not available.

    `folder` is the engine's own folder beside the index file (None: in memory). `spread` is the distance between the
    row numbers of two texts.
    """
    if name == "whoosh":
        from clawmem.index.tables.whoosh_engine import WhooshEngine  # imports all of Whoosh

        return WhooshEngine(database, folder, table)
    return FtsEngine(database, table, spread)


# Ranking a row takes about 2.5 microseconds, counting one a tenth of that. Up to CHEAP rows no optimisation pays off.
CHEAP = 2_000
ENOUGH = 20
_LEAST_WEIGHT = 1e-6  # what FTS5 gives a word that half of the texts have


class FtsEngine:
    """An FTS5 table with an inverted index and no copy of the texts.

    Row numbers leave `spread - 1` unused numbers between two texts, on either side of 0.
    """

    name = "fts5"

    def __init__(self, database: sqlite3.Connection, table: str = FACT_WORDS, spread: int = 1) -> None:
        self._database = database
        self._table = table
        self._spread = spread
        try:
            if not _has(database, table):
                # A new index, or one from another engine: only a trial shows whether FTS5 is available.
                database.execute("CREATE VIRTUAL TABLE temp.trial USING fts5(text)")
                database.execute("DROP TABLE temp.trial")
        except sqlite3.OperationalError as problem:
            if "no such module" in str(problem):
                raise EngineMissing("this Python's SQLite has no FTS5") from None
            raise

    def prepare(self) -> None:
        """Create the table."""
        self._database.execute(FTS.format(table=self._table))

    def add(self, documents: Iterable[Document]) -> None:
        """Index the texts."""
        rows = ((n, spaced(text)) for n, text in documents)
        self._database.executemany(f"INSERT INTO {self._table} (rowid, text) VALUES (?, ?)", rows)

    def remove(self, documents: Iterable[Document]) -> None:
        """Remove the texts. FTS5 needs the old text to find the entries to delete."""
        table, rows = self._table, ((n, spaced(text)) for n, text in documents)
        self._database.executemany(f"INSERT INTO {table} ({table}, rowid, text) VALUES ('delete', ?, ?)", rows)

    def search(self, words: Sequence[str], limit: int, thorough: bool = False) -> list[Match]:
        """Rank by BM25 with FTS5's k1 1.2 and b 0.75. FTS5's scores are negative, so the sign is changed.

        If the words occur in so many texts that ranking all of them would take long, the rarest words are tried first.
        """
        phrases = phrases_of(words)
        if not phrases or limit < 1:
            return []
        if (few := self._ranked_apart(phrases)) is not None:
            return few[:limit]
        found: list[Match] = []
        for query in [" OR ".join(phrases)] if thorough else self._queries(phrases):
            found = self._run(query, limit)
            if len(found) >= min(limit, ENOUGH):
                break
        return found

    def search_among(self, rows: Collection[int], words: Sequence[str], limit: int) -> list[Match]:
        """Return the best of the given texts. Only these are ranked, because ranking is slow for common words."""
        phrases = phrases_of(words)
        if not phrases or not rows or limit < 1:
            return []
        if (few := self._ranked_apart(phrases)) is not None:
            return [match for match in few if match.n in rows][:limit]
        # `+` keeps SQLite from querying FTS5 row by row, each time with the full list of a word's occurrences.
        found = self._database.execute(
            f"SELECT rowid, -bm25({self._table}) AS score FROM {self._table} WHERE {self._table} MATCH ?"
            " AND +rowid IN (SELECT value FROM json_each(?)) ORDER BY score DESC, rowid LIMIT ?",
            (" OR ".join(phrases), _list(rows), limit),
        )
        return list(map(Match._make, found))

    def having(self, rows: Collection[int], words: Sequence[str]) -> set[int]:
        """Return those of the given texts that have one of the words."""
        phrases = phrases_of(words)
        if not phrases or not rows:
            return set()
        found = self._database.execute(
            f"SELECT rowid FROM {self._table} WHERE {self._table} MATCH ?"
            " AND +rowid IN (SELECT value FROM json_each(?))",
            (" OR ".join(phrases), _list(rows)),
        )
        return {n for (n,) in found}

    def rows(self, words: Sequence[str], most: int) -> list[int]:
        """Return the texts that have one of the words, at most `most`, without ranking them."""
        query = f"SELECT rowid FROM {self._table} WHERE {self._table} MATCH ? LIMIT ?"
        found = self._database.execute(query, (phrases, most)) if (phrases := " OR ".join(phrases_of(words))) else ()
        return [n for (n,) in found]

    def terms(self, begin: str) -> list[str]:
        """Return the words of all texts, without endings and accents, that begin with some letters."""
        name = f"{self._table}_terms"
        self._database.execute(
            f"CREATE VIRTUAL TABLE IF NOT EXISTS temp.{name} USING fts5vocab(main, {self._table}, row)"
        )
        query = f"SELECT term FROM temp.{name} WHERE term >= ? AND term < ?"
        return [term for (term,) in self._database.execute(query, (begin, f"{begin}\U0010ffff"))]

    def count(self, words: Sequence[str], most: int) -> int:
        """Return how many texts contain one of the words, at most `most`."""
        phrases = phrases_of(words)
        return self._count(" OR ".join(phrases), most) if phrases else 0

    def flush(self) -> None:
        """Do nothing: the index's own transaction stores the changes."""

    def discard_changes(self) -> None:
        """Do nothing: the index's own transaction discards the changes."""

    def is_in_sync(self) -> bool:
        """Return True: both sides are one file."""
        return True

    def close(self) -> None:
        """Do nothing: the engine has no files of its own."""

    def _run(self, query: str, limit: int) -> list[Match]:
        rows = self._database.execute(
            f"SELECT rowid, -rank FROM {self._table} WHERE {self._table} MATCH ? ORDER BY rank, rowid LIMIT ?",
            (query, limit),
        )
        # There are hundreds: this makes them without a call of Python for each.
        return list(map(tuple.__new__, repeat(Match), rows))

    def _ranked_apart(self, phrases: Sequence[str]) -> list[Match] | None:
        """Return what has any of the phrases, with the weights of words among a hundred further texts; None if there
        are many. A few texts do not tell how common a word is: for FTS5, a word in half of them counts nothing.
        """
        query = f"SELECT count(*) FROM (SELECT 1 FROM {self._table}_docsize LIMIT {BACKGROUND + 1})"
        texts: int = self._database.execute(query).fetchone()[0]
        if texts > BACKGROUND:
            return None
        ranked, scores = f"SELECT rowid, -rank FROM {self._table} WHERE {self._table} MATCH ?", dict[int, float]()
        for phrase in phrases:
            rows = self._database.execute(ranked, (phrase,)).fetchall()
            common = math.log((texts - len(rows) + 0.5) / (len(rows) + 0.5))
            weight = word_weight(texts, len(rows)) / (common if common > 0 else _LEAST_WEIGHT)
            for n, score in rows:
                scores[n] = scores.get(n, 0.0) + weight * score
        return [Match(n, scores[n]) for n in sorted(scores, key=lambda n: (-scores[n], n))]

    def _queries(self, phrases: Sequence[str]) -> list[str]:
        """Return the queries to try, narrow to wide. The last one matches any of the words."""
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
    """Return narrower queries to try before one that matches any of the words.

    They match the rare words; or, if only one word is rare, that word with the others for ranking; or, if none is, all
    of the words. Empty if every word is rare. A word is rare if it occurs in at most `common` texts and, after the
    second word, if all of them together occur in at most `most` texts.
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


def phrases_of(words: Sequence[str]) -> list[str]:
    """Return the words as FTS5 strings, each once, without those that have no letter or digit."""
    return [phrase for phrase in map(_phrase, dict.fromkeys(words)) if phrase]


def _phrase(word: str) -> str:
    """Return the word as an FTS5 string without operators; empty if it has no letter or digit."""
    if not any(character.isalnum() for character in word):
        return ""
    return '"' + spaced(word).replace('"', '""').replace("\0", " ") + '"'


def _list(rows: Iterable[int]) -> str:
    """Return the rows as a list in JSON."""
    return f"[{','.join(map(str, rows))}]"
