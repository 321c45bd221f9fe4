"""The lines of notes by where they stand: an entity's summary, an agent's pages, the newest of its daily notes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

from clawmem.index.store import Index


class Note(NamedTuple):
    """One line that people or an agent wrote; `tokens` are those of its line of context, None where not counted."""

    n: int
    path: str
    day: str | None
    text: str
    tokens: int | None


def lines_of(index: Index, paths: Sequence[str], most: int) -> list[Note]:
    """The lines of some pages, in the order of the pages and of their lines, `most` of each page."""
    query = "SELECT n, path, day, text, tokens FROM note WHERE path = ? ORDER BY place LIMIT ?"
    return [Note(*row) for path in paths for row in index.database.execute(query, (path, most))]


def newest_lines(index: Index, folder: str, most: int) -> list[Note]:
    """The last lines of a folder's pages, whose names begin with their days; the newest first."""
    rows = index.database.execute(
        "SELECT n, path, day, text, tokens FROM note WHERE path >= ? AND path < ?"
        " ORDER BY path DESC, place DESC LIMIT ?",
        (f"{folder}/", f"{folder}0", most),
    )
    return [Note(*row) for row in rows]


def event_tokens(index: Index, ids: Sequence[str]) -> dict[str, int]:
    """The exact tokens of the lines of some events, where they are counted; the most where an id stands twice."""
    rows = index.database.execute(
        "SELECT event.id, max(tokens) FROM json_each(?) AS given CROSS JOIN event ON event.id = given.value"
        " GROUP BY event.id HAVING count(tokens) = count(*)",
        (json.dumps(list(ids)),),
    )
    return dict(rows.fetchall())


def events_between(index: Index, first: str, last: str, most: int) -> list[str]:
    """The records of what was said on some days, both included, oldest first, `most` at most. What came out of this
    memory is left out."""
    rows = index.database.execute(
        "SELECT line FROM event WHERE day BETWEEN ? AND ? AND recalled = 0 ORDER BY day, n LIMIT ?",
        (first, last, most),
    )
    return [row[0] for row in rows]


def days_of(index: Index, event_ids: Sequence[str]) -> dict[str, str]:
    """The days of some events; ids that the ledger does not hold are left out."""
    rows = index.database.execute(
        "SELECT event.id, day FROM json_each(?) AS given CROSS JOIN event ON event.id = given.value",
        (json.dumps(list(event_ids)),),
    )
    return dict(rows.fetchall())
