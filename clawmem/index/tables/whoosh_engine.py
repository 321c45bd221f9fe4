"""Keyword search by Whoosh, for a Python whose SQLite lacks FTS5 and for whoever asks for it.

Whoosh keeps files of its own, so each flush makes a new generation of them and notes its number in the SQLite
transaction it belongs to. Where the two differ a process died between them, and the index is built anew.
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

_LOOKS = 5
# The same words as FTS5's unicode61: runs of letters and digits, none too short or too common to count.
_ANALYZER = StemmingAnalyzer(expression=r"[^\W_]+", stoplist=None, minsize=1) | CharsetFilter(accent_map)
_SCHEMA = Schema(n=ID(stored=True, unique=True), text=TEXT(analyzer=_ANALYZER))
# What reading or merging files raises that are not what they should be, or that are held by a stopped process.
_DAMAGE = (
    *(OSError, EOFError, ValueError, LookupError, TypeError, AttributeError),
    *(struct.error, UnpicklingError, WhooshIndexError, LockError),
)


class WhooshEngine:
    """Whoosh in a folder of its own, or in memory where there is none."""

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
        """Nothing to do: the first flush makes the files."""

    def add(self, documents: Iterable[Document]) -> None:
        """Note texts to be indexed by the next flush."""
        self._new.update(documents)

    def remove(self, documents: Iterable[Document]) -> None:
        """Note texts to be taken out by the next flush."""
        for document in documents:
            if self._new.pop(document.n, None) is None:
                self._gone.add(document.n)

    def flush(self) -> None:
        """Commit a new generation of the files, and its number to the open SQLite transaction."""
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
        """Drop what was noted since the last flush."""
        self._new, self._gone = {}, set()

    def search(self, words: Sequence[str], limit: int, thorough: bool = False) -> list[Match]:
        """BM25F with k1 1.2 and b 0.75; raises EngineDamaged where the files cannot be read."""
        return sorted(self._matches(words, limit), key=lambda match: (-match.score, match.n))

    def search_among(self, rows: Collection[int], words: Sequence[str], limit: int) -> list[Match]:
        """The best of some texts; raises EngineDamaged where the files cannot be read."""
        return sorted(self._matches(words, limit, rows), key=lambda match: (-match.score, match.n))

    def count(self, words: Sequence[str], most: int) -> int:
        """In how many texts one of the words stands, counted no further than `most`."""
        return len(self._matches(words, most))

    def _matches(self, words: Sequence[str], limit: int, among: Collection[int] | None = None) -> list[Match]:
        parts = [one for one in (_part(word) for word in dict.fromkeys(words)) if one is not None]
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
        """Whether the newest generation on disk is the one the SQLite side knows."""
        row = self._database.execute("SELECT value FROM meta WHERE key = ?", (self._stamp,)).fetchone()
        try:
            return self._generation() == (int(row[0]) if row else -1)
        except _DAMAGE:
            return False

    def close(self) -> None:
        """Let go of the files."""
        searcher, self._searcher = self._searcher, None
        if searcher is not None:
            searcher.close()

    def _reader(self) -> Any:
        for _ in range(_LOOKS):
            try:
                return self._index().searcher(weighting=BM25F(B=0.75, K1=1.2))
            except FileNotFoundError:
                continue  # a writer replaced the files between the look and the opening
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
        return int(self._storage.open_index().latest_generation()) if self._born() else -1

    def _born(self) -> bool:
        return bool(self._storage.index_exists())

    def _index(self) -> Any:
        if self._folder is not None:
            self._folder.mkdir(parents=True, exist_ok=True)
        return self._storage.open_index() if self._born() else self._storage.create_index(_SCHEMA)


def _storage(folder: Path | None) -> Any:
    files, memory = cast("tuple[Any, Any]", (FileStorage, RamStorage))  # they carry no types
    return memory() if folder is None else files(str(folder))


def _part(word: str) -> Any:
    tokens = [token.text for token in _ANALYZER(word, mode="query")]
    if len(tokens) > 1:
        return Phrase("text", tokens)
    return Term("text", tokens[0]) if tokens else None
