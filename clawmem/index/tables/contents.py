"""What the tables contain as a whole: counts, ids and names, for health checks, status and completion."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from zlib import crc32

from clawmem.errors import Unreadable
from clawmem.index.tables.schema import MODEL_RUN, SPOKEN
from clawmem.index.tables.store import Index
from clawmem.model.facts.fact import ACTIVE
from clawmem.model.named_tuple import NamedTuple
from clawmem.model.records.cursor import CURSOR_PATH, parse_cursor
from clawmem.vault.state.reading_state import read_reading_state
from clawmem.vault.vault import Vault


class RowCounts(NamedTuple):
    """How many facts, events (by id) and entities (with a summary or a fact) the index contains."""

    facts: int
    events: int
    entities: int


def row_counts(index: Index) -> RowCounts:
    """Count the facts, events and entities."""
    queries = (
        "SELECT count(*) FROM fact",
        "SELECT count(DISTINCT id) FROM event",
        "SELECT count(*) FROM (SELECT name FROM entity UNION SELECT entity FROM fact)",
    )
    return RowCounts(*(index.database.execute(query).fetchone()[0] for query in queries))


def event_rows(index: Index) -> int:
    """Return the number of events. An id that occurs on two days counts twice."""
    return int(index.database.execute("SELECT count(*) FROM event").fetchone()[0])


class DayEvents(NamedTuple):
    """How many events a day has, the row of the last one, how many are no records of model runs, and in how many
    somebody says something."""

    events: int
    last: int
    learned_from: int
    spoken: int


def events_by_day(index: Index) -> dict[str, DayEvents]:
    """Return the events of each day, in the order of the days."""
    query = "SELECT day, events, last_n, learned_from, spoken FROM ledger WHERE events > 0 ORDER BY day"
    if index.is_restricted:  # only what may be seen counts
        numbers = f"count(*), max(n), sum(kind != {MODEL_RUN}), sum(kind = {SPOKEN})"
        query = f"SELECT day, {numbers} FROM event INDEXED BY event_day GROUP BY day"
    return {day: DayEvents(*numbers) for day, *numbers in index.database.execute(query)}


def events_after(
    index: Index, reached: Mapping[str, str], days: Mapping[str, DayEvents], spoken: bool
) -> dict[str, int]:
    """Return the number of events of each of some days behind the one that was `reached`, an id, or of all where the
    day has no such event: those that somebody said, if `spoken`, else all but records of model runs."""
    found = index.database.execute(
        "SELECT event.day, event.n FROM json_each(?) AS given"
        " CROSS JOIN event INDEXED BY event_id ON event.id = given.value AND event.day = given.key",
        (json.dumps({day: reached[day] for day in reached if day in days}),),
    )
    rows = dict(found.fetchall())
    query = (
        f"SELECT count(*) FROM event WHERE day = ? AND n > ? AND kind {f'= {SPOKEN}' if spoken else f'!= {MODEL_RUN}'}"
    )
    left = {}
    for day, numbers in days.items():
        if day not in rows:
            left[day] = numbers.spoken if spoken else numbers.learned_from
        elif rows[day] < numbers.last:
            left[day] = int(index.database.execute(query, (day, rows[day])).fetchone()[0])
    return left


class DayMessages(NamedTuple):
    """The size and the CRC-32 of a day's ledger as it was indexed, its number of events, and of those in which somebody
    says something the number by the harness with which it was said."""

    size: int
    crc: int
    events: int
    by_harness: Counter[str | None]

    def are_of(self, data: bytes) -> bool:
        """Return whether these are the messages of a ledger file, each id once."""
        return len(data) == self.size and data.count(b"\n") == self.events and crc32(data) == self.crc


def messages_by_day(index: Index, apart: Collection[str]) -> dict[str, DayMessages]:
    """Return the messages of each day, but for the days of the events with ids `apart`; none of an index that does not
    show all."""
    if index.is_restricted:
        return {}
    days = {
        day: DayMessages(size, crc, events, Counter())
        for day, size, crc, events in index.database.execute(
            "SELECT day, size, crc, events FROM ledger WHERE day NOT IN (SELECT event.day FROM json_each(?) AS given"
            " CROSS JOIN event INDEXED BY event_id ON event.id = given.value)",
            (json.dumps([*apart]),),
        )
    }
    query = f"SELECT day, harness, count(*) FROM event INDEXED BY event_day WHERE kind = {SPOKEN} GROUP BY day, harness"
    for day, harness, number in index.database.execute(query):
        if day in days:
            days[day].by_harness[harness] = number
    return days


def unread_messages(vault: Vault, index: Index, days: Mapping[str, DayEvents] | None = None) -> tuple[int, str]:
    """Return how many messages no model or agent has read, and the day of the oldest of them. `days` are the events of
    each day, if the caller has them."""
    try:
        reached = parse_cursor(vault.read(CURSOR_PATH)).by_model
    except Unreadable:
        reached = {}  # reported with the file
    state = read_reading_state(vault)
    last = {day: progress.last for day, progress in reached.items()}
    left = events_after(index, last, events_by_day(index) if days is None else days, spoken=True)
    passed = sum(event.done for event in state.events.values()) + len(state.set_aside)
    unread = max(0, sum(left.values()) - passed)
    return unread, next((day for day, count in left.items() if count and unread), "")


def taught_events(index: Index) -> int:
    """Return the number of events on which a fact rests."""
    return int(index.database.execute("SELECT count(DISTINCT event) FROM fact WHERE event IS NOT NULL").fetchone()[0])


def run_lines(index: Index) -> bytes:
    """Return the ledger lines that record model runs, oldest first."""
    query = f"SELECT line FROM event INDEXED BY event_run WHERE kind = {MODEL_RUN} ORDER BY day, n"
    return b"".join(f"{line}\n".encode() for (line,) in index.database.execute(query))


def sqlite_problem(index: Index) -> str | None:
    """Return what SQLite's integrity check reports, or None if the file is intact. Reads the whole file."""
    (verdict,) = index.database.execute("PRAGMA integrity_check(1)").fetchone()
    return None if verdict == "ok" else str(verdict)


def fact_lines(index: Index) -> Iterator[tuple[str, str]]:
    """Yield the entity and the line of every fact."""
    return index.database.execute("SELECT entity, line FROM fact")


def summary_names(index: Index) -> frozenset[str]:
    """Return the names of the entities with a summary."""
    return frozenset(name for (name,) in index.database.execute("SELECT name FROM entity"))


def event_ids(index: Index) -> Iterator[str]:
    """Yield the id of every event once, sorted."""
    return (event_id for (event_id,) in index.database.execute("SELECT DISTINCT id FROM event ORDER BY id"))


def searchable_facts(index: Index) -> int | None:
    """Return how many facts FTS5 has indexed, or None if another keyword engine is in use."""
    if index.engine.name != "fts5":
        return None
    return int(index.database.execute("SELECT count(*) FROM words_docsize").fetchone()[0])


def facts_with_prefix(index: Index, prefix: str, limit: int) -> list[tuple[str, str]]:
    """Return the ids that start with a prefix, with their statements: active facts first, newest first."""
    query = "SELECT id, line FROM fact WHERE id >= ? AND id < ? ORDER BY status != ?, n DESC LIMIT ?"
    rows = index.database.execute(query, (prefix, prefix + "\U0010ffff", ACTIVE, limit))
    return [(fact_id, json.loads(line)["fact"]) for fact_id, line in rows]


def categories(index: Index) -> list[str]:
    """Return the categories in use, sorted."""
    return [name for (name,) in index.database.execute("SELECT DISTINCT category FROM fact ORDER BY 1")]
