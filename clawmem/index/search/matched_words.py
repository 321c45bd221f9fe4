"""Which words of a text a keyword search matches, by the tokenizer of the search itself."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing

from clawmem.index.tables.fts_engine import phrases_of
from clawmem.index.tables.schema import TOKENS

_MARKS = {2: " ", 3: " ", 0: " "}
_MARKED = re.compile("\x02([^\x03]*)\x03")


def matched_spans(texts: Sequence[str], words: Sequence[str]) -> list[list[tuple[int, int]]]:
    """Return for each text the places, as start and end, of the words that one of `words` finds: also other forms of
    it, and with or without accents. None are found if SQLite has no FTS5."""
    found: list[list[tuple[int, int]]] = [[] for _ in texts]
    query = " OR ".join(phrases_of(words))
    if not query:
        return found
    with closing(sqlite3.connect(":memory:")) as database:
        try:
            database.execute(f"CREATE VIRTUAL TABLE hit USING fts5(text, tokenize='{TOKENS}')")
        except sqlite3.OperationalError:
            return found  # no FTS5: nothing is highlighted
        rows = ((number, text.translate(_MARKS)) for number, text in enumerate(texts))
        database.executemany("INSERT INTO hit (rowid, text) VALUES (?, ?)", rows)
        marked = "SELECT rowid, highlight(hit, 0, char(2), char(3)) FROM hit WHERE hit MATCH ?"
        for number, text in database.execute(marked, (query,)):
            found[number] = list(_spans(text))
    return found


def _spans(marked: str) -> Iterator[tuple[int, int]]:
    for number, match in enumerate(_MARKED.finditer(marked)):
        start = match.start() - 2 * number  # two marks for each match before
        yield start, start + len(match[1])
