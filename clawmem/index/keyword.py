"""The keyword seam: what an engine that ranks texts by BM25 must do, and the two that do it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol


class Document(NamedTuple):
    """A text to be found: its row number in the index and its words."""

    n: int
    text: str


class Match(NamedTuple):
    """A found text and its BM25 score, higher is better."""

    n: int
    score: float


class KeywordEngine(Protocol):
    """Ranks texts for a set of words, any of which may match, after English stemming."""

    name: str

    def add(self, documents: Iterable[Document]) -> None:
        """Make the texts findable."""

    def remove(self, documents: Iterable[Document]) -> None:
        """Make the texts, given exactly as they were added, unfindable."""

    def search(self, words: Sequence[str], limit: int) -> list[Match]:
        """The best texts that hold at least one of the words, best first."""

    def flush(self) -> None:
        """Keep what was added and removed since the last flush."""


class EngineMissing(Exception):
    """The engine cannot run on this machine; the message says why."""


def open_engine(name: str, database: sqlite3.Connection, folder: Path) -> KeywordEngine:
    """The engine of that name over the index; raises EngineMissing where this machine lacks it."""
    if name == "whoosh":
        from clawmem.index.whoosh_engine import WhooshEngine  # imports the whole of Whoosh

        return WhooshEngine(folder / "whoosh")
    from clawmem.index.fts_engine import FtsEngine

    return FtsEngine(database)
