"""The interface of keyword engines, which rank texts by BM25, and the choice of one."""

import sqlite3
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Protocol

from clawmem.index.tables.schema import FACT_WORDS
from clawmem.model.named_tuple import NamedTuple


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

    def terms(self, begin: str) -> list[str]:
        """Return the words of all texts, without endings and accents, that begin with some letters."""

    def count(self, words: Sequence[str], most: int) -> int:
        """Return how many texts contain one of the words, at most `most`."""

    def reuse(self, state: object) -> None:
        """Let repeated questions about single words be answered from memory for as long as the state of the index is
        this one; None: ask again each time."""

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
    from clawmem.index.tables.fts_engine import FtsEngine

    return FtsEngine(database, table, spread)
