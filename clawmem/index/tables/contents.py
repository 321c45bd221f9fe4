"""What the tables contain as a whole: counts, ids and names, for health checks, status and completion."""

from __future__ import annotations

import json
from collections.abc import Iterator

from clawmem.index.tables.store import Index
from clawmem.model.facts.fact import ACTIVE
from clawmem.model.named_tuple import NamedTuple
from clawmem.model.records.event import MODEL_RUN, SILENT_KINDS

_SILENT = (f'NOT instr(line, \'"kind": "{kind}"\')' for kind in SILENT_KINDS)
_SPOKEN = " AND ".join(("recalled = 0", "role != 'system'", *_SILENT))


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


def events_by_day(index: Index) -> dict[str, int]:
    """Return the number of events of each day."""
    return dict(index.database.execute("SELECT day, count(*) FROM event GROUP BY day"))


def events_after_event(index: Index, day: str, event_id: str | None, spoken: bool = False) -> int:
    """Return the number of events of a day after one of them, or of all if the day does not have it, without clawmem's
    own records of model runs; only what somebody said, if it is to be `spoken`."""
    query = (
        "SELECT count(*) FROM event WHERE day = ? AND n > coalesce((SELECT n FROM event WHERE id = ? AND day = ?), -1)"
        f" AND NOT instr(line, ?){f' AND {_SPOKEN}' if spoken else ''}"
    )
    return int(index.database.execute(query, (day, event_id, day, f'"{MODEL_RUN}"')).fetchone()[0])


def spoken_and_taught(index: Index) -> tuple[int, int]:
    """Return the number of events in which somebody said something, and of those on which a fact rests."""
    query = f"SELECT (SELECT count(*) FROM event WHERE {_SPOKEN}), (SELECT count(DISTINCT event) FROM fact)"
    spoken, taught = index.database.execute(query).fetchone()
    return spoken, taught


def run_lines(index: Index) -> bytes:
    """Return the ledger lines that record model runs, oldest first."""
    query = "SELECT line FROM event WHERE instr(line, ?) ORDER BY day, n"
    return b"".join(f"{line}\n".encode() for (line,) in index.database.execute(query, (f'"{MODEL_RUN}"',)))


def sqlite_problem(index: Index) -> str | None:
    """Return what SQLite's integrity check reports, or None if the file is intact. Reads the whole file."""
    (verdict,) = index.database.execute("PRAGMA integrity_check(1)").fetchone()
    return None if verdict == "ok" else str(verdict)


def fact_lines(index: Index) -> list[tuple[str, str]]:
    """Return the entity and the line of every fact."""
    return index.database.execute("SELECT entity, line FROM fact").fetchall()


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
