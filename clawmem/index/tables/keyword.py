"""The keyword seam: what an engine that ranks texts by BM25 must do, and the two that do it."""

import sqlite3
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

from clawmem.index.tables.schema import FACT_WORDS


class Document(NamedTuple):
    """A text to be found: its row number in the index and its words."""

    n: int
    text: str


class Match(NamedTuple):
    """A found text and its BM25 score, higher is better."""

    n: int
    score: float


class KeywordEngine(Protocol):
    """Ranks texts for a set of words, any of which may match, after English stemming and without accents.

    A word of several parts, such as `don't` or `e-mail`, matches where its parts stand side by side.
    """

    name: str

    def prepare(self) -> None:
        """Make the engine's place in an index that is new and empty."""

    def add(self, documents: Iterable[Document]) -> None:
        """Make the texts findable."""

    def remove(self, documents: Iterable[Document]) -> None:
        """Make the texts, given exactly as they were added, unfindable."""

    def search(self, words: Sequence[str], limit: int, thorough: bool = False) -> list[Match]:
        """The best texts that hold at least one of the words, best first; of equal ones the earlier row first.

        An engine may spare itself texts that hold only common words where others abound, unless it is to be thorough.
        """

    def search_among(self, rows: Collection[int], words: Sequence[str], limit: int) -> list[Match]:
        """The best of some texts by the scores that they have among all, in the same order, thoroughly."""

    def count(self, words: Sequence[str], most: int) -> int:
        """In how many texts one of the words stands, counted no further than `most`."""

    def flush(self) -> None:
        """Keep what was added and removed since the last flush, as part of the open SQLite transaction."""

    def discard_changes(self) -> None:
        """Drop what was added and removed since the last flush."""

    def is_in_sync(self) -> bool:
        """Whether the engine holds exactly the texts that the SQLite side believes it holds."""

    def close(self) -> None:
        """Let go of files."""


class EngineMissing(Exception):
    """The engine cannot run on this machine; the message says why."""


class EngineDamaged(sqlite3.DatabaseError):
    """The engine's own files cannot be read; the index must be built anew."""


def open_engine(
    name: str, database: sqlite3.Connection, folder: Path | None, table: str = FACT_WORDS, spread: int = 1
) -> KeywordEngine:
    """The engine of that name over one of the index's collections of texts; EngineMissing where this machine lacks it.

    `folder` is the engine's own place beside the index file, None for an index in memory; `spread` is how far apart
    the row numbers of two texts lie.
    """
    if name == "whoosh":
        from clawmem.index.tables.whoosh_engine import WhooshEngine  # imports the whole of Whoosh

        return WhooshEngine(database, folder, table)
    from clawmem.index.tables.fts_engine import FtsEngine

    return FtsEngine(database, table, spread)
