"""Keyword search with Whoosh, for a Python whose SQLite has no FTS5, or if it is configured.

Whoosh has files of its own. Each flush creates a new generation of them and stores its number in the SQLite
transaction. If the two numbers differ, a process died between the two commits, and the index is rebuilt.
"""

from __future__ import annotations

import sqlite3
import struct
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from pickle import UnpicklingError
from typing import Any, cast

from whoosh.analysis.analyzers import StemmingAnalyzer
from whoosh.analysis.filters import CharsetFilter
from whoosh.fields import ID, TEXT, Schema
from whoosh.filedb.filestore import FileStorage, RamStorage
from whoosh.index import IndexError as WhooshIndexError
from whoosh.index import LockError
from whoosh.query.compound import Or
from whoosh.query.positional import Phrase
from whoosh.query.terms import Term
from whoosh.scoring import BM25F
from whoosh.support.charset import accent_map

from clawmem.index.tables.keyword import Document, EngineDamaged, Match
from clawmem.index.tables.schema import FACT_WORDS
from clawmem.model.language.languages import spaced

_ATTEMPTS = 5
# The same tokens as FTS5's unicode61: runs of letters and digits, without minimum length or stop words.
_ANALYZER = StemmingAnalyzer(expression=r"[^\W_]+", stoplist=None, minsize=1) | CharsetFilter(accent_map)
_SCHEMA = Schema(n=ID(stored=True, unique=True), text=TEXT(analyzer=_ANALYZER))
# Errors of reading or merging files that are damaged, or locked by a stopped process.
_DAMAGE = (
    *(OSError, EOFError, ValueError, LookupError, TypeError, AttributeError),
    *(struct.error, UnpicklingError, WhooshIndexError, LockError),
)


class WhooshEngine:
    """A Whoosh index in a folder, or in memory without one."""

    name = "whoosh"

    def __init__(self, database: sqlite3.Connection, folder: Path | None, table: str = FACT_WORDS) -> None:
        self._database = database
        self._folder = folder
        self._stamp = f"whoosh {table}"
        self._storage = _storage(folder)
        self._new: dict[int, str] = {}
        self._gone: set[int] = set()
        self._searcher: Any = None

    def prepare(self) -> None:
        """Do nothing: the first flush creates the files."""

    def add(self, documents: Iterable[Document]) -> None:
        """Remember texts to index with the next flush."""
        self._new.update((n, spaced(text)) for n, text in documents)

    def remove(self, documents: Iterable[Document]) -> None:
        """Remember texts to remove with the next flush."""
        for document in documents:
            if self._new.pop(document.n, None) is None:
                self._gone.add(document.n)

    def flush(self) -> None:
        """Commit a new generation of the files, and its number in the open SQLite transaction."""
        if not self._new and not self._gone:
            return
        self.close()
        try:
            self._write()
            generation = self._generation()
        except _DAMAGE as problem:
            raise EngineDamaged(f"Whoosh's files cannot be written: {problem}") from problem
        self.discard_changes()
        self._database.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (self._stamp, str(generation)))

    def discard_changes(self) -> None:
        """Discard what was remembered since the last flush."""
        self._new, self._gone = {}, set()

    def search(self, words: Sequence[str], limit: int, thorough: bool = False) -> list[Match]:
        """Rank by BM25F with k1 1.2 and b 0.75. Raise EngineDamaged if the files cannot be read."""
        return sorted(self._matches(words, limit), key=lambda match: (-match.score, match.n))

    def search_among(self, rows: Collection[int], words: Sequence[str], limit: int) -> list[Match]:
        """Return the best of the given texts. Raise EngineDamaged if the files cannot be read."""
        return sorted(self._matches(words, limit, rows), key=lambda match: (-match.score, match.n))

    def having(self, rows: Collection[int], words: Sequence[str]) -> set[int]:
        """Return those of the texts that have one of the words. Raise EngineDamaged if the files cannot be read."""
        return {match.n for match in self._matches(words, len(rows), rows)}

    def rows(self, words: Sequence[str], most: int) -> list[int]:
        """Return the texts that have one of the words. Raise EngineDamaged if the files cannot be read."""
        return [match.n for match in self._matches(words, most)]

    def terms(self, begin: str) -> list[str]:
        """Return the words of all texts, without endings and accents, that begin with some letters."""
        self._matches((begin,), 1)  # opens the reader
        terms = self._searcher.reader().expand_prefix("text", begin) if self._searcher else ()
        return [term.decode() for term in terms]

    def count(self, words: Sequence[str], most: int) -> int:
        """Return how many texts contain one of the words, at most `most`."""
        return len(self._matches(words, most))

    def _matches(self, words: Sequence[str], limit: int, among: Collection[int] | None = None) -> list[Match]:
        parts = [other for other in (_part(word) for word in dict.fromkeys(words)) if other is not None]
        if not parts or limit < 1 or (among is not None and not among):
            return []
        try:
            if self._generation() < 0:
                return []
            if self._searcher is None:
                self._searcher = self._reader()
            numbers = None if among is None else {self._searcher.document_number(n=str(n)) for n in among} - {None}
            found = self._searcher.search(Or(parts), limit=limit, filter=numbers)
            return [Match(int(hit["n"]), float(hit.score)) for hit in found]
        except _DAMAGE as problem:
            raise EngineDamaged(f"Whoosh's files cannot be read: {problem}") from problem

    def is_in_sync(self) -> bool:
        """Return whether the newest generation on disk is the one that SQLite knows."""
        row = self._database.execute("SELECT value FROM meta WHERE key = ?", (self._stamp,)).fetchone()
        try:
            return self._generation() == (int(row[0]) if row else -1)
        except _DAMAGE:
            return False

    def close(self) -> None:
        """Close the files."""
        searcher, self._searcher = self._searcher, None
        if searcher is not None:
            searcher.close()

    def _reader(self) -> Any:
        for _ in range(_ATTEMPTS):
            try:
                return self._index().searcher(weighting=BM25F(B=0.75, K1=1.2))
            except FileNotFoundError:
                continue  # a writer replaced the files meanwhile
        return self._index().searcher(weighting=BM25F(B=0.75, K1=1.2))

    def _write(self) -> None:
        writer = self._index().writer(limitmb=64, timeout=10.0)
        try:
            for n in self._gone:
                writer.delete_by_term("n", str(n))
            for n, text in self._new.items():
                writer.add_document(n=str(n), text=text)
        except BaseException:
            writer.cancel()
            raise
        writer.commit()

    def _generation(self) -> int:
        if self._folder is not None and not self._folder.is_dir():
            return -1
        return int(self._storage.open_index().latest_generation()) if self._exists() else -1

    def _exists(self) -> bool:
        return bool(self._storage.index_exists())

    def _index(self) -> Any:
        if self._folder is not None:
            self._folder.mkdir(parents=True, exist_ok=True)
        return self._storage.open_index() if self._exists() else self._storage.create_index(_SCHEMA)


def _storage(folder: Path | None) -> Any:
    files, memory = cast("tuple[Any, Any]", (FileStorage, RamStorage))  # Whoosh has no types
    return memory() if folder is None else files(str(folder))


def _part(word: str) -> Any:
    tokens = [token.text for token in _ANALYZER(spaced(word), mode="query")]
    if len(tokens) > 1:
        return Phrase("text", tokens)
    return Term("text", tokens[0]) if tokens else None
