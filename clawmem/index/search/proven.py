"""What files of HEAD hold, by the rows of the index, where the rows give exactly the bytes, or have their checksum."""

from __future__ import annotations

import hashlib
import json
import zlib
from collections.abc import Collection, Mapping

from clawmem.index.search.lookup import FACT_COLUMNS, fact_from_row
from clawmem.index.tables.contents import DayEvents, events_by_day
from clawmem.index.tables.store import Index
from clawmem.model.facts.codec import items_file
from clawmem.model.facts.fact import Fact
from clawmem.model.records.cursor import DayProgress
from clawmem.model.records.entity import name_of_path
from clawmem.model.records.event import as_said, event_from_record, ledger_path


class IndexedFiles:
    """The rows of files of HEAD, whose blobs are given by path. `rows` are the facts that were returned, by row."""

    def __init__(self, index: Index, blobs: Mapping[str, str]) -> None:
        self._index = index
        self._blobs = blobs
        self._days = events_by_day(index)
        self._read: set[str] = set()
        self.rows: dict[int, Fact] = {}

    def facts(self, path: str) -> list[Fact] | None:
        """Return the facts of a file, or None if its rows do not give its bytes."""
        query = f"SELECT {FACT_COLUMNS} FROM fact WHERE entity = ? ORDER BY n"
        rows = self._index.database.execute(query, (name_of_path(path) or path,)).fetchall()
        if not _is_blob(items_file(row[0] for row in rows), self._blobs[path]):
            return None
        facts = {row[2]: fact_from_row(row).fact for row in rows}
        self.rows.update(facts)
        return list(facts.values())

    def event_ids(self, path: str, data: bytes) -> list[str] | None:
        """Return the ids of the events of a ledger file, or None if its rows are not those of its bytes."""
        day = path.removeprefix("ledger/").removesuffix(".jsonl")
        execute = self._index.database.execute
        known = execute("SELECT size, crc FROM ledger WHERE day = ?", (day,)).fetchone()
        ids = [event_id for (event_id,) in execute("SELECT id FROM event WHERE day = ? ORDER BY n", (day,))]
        if known != (len(data), zlib.crc32(data)) or len(ids) != data.count(b"\n"):
            return None
        self._read.add(day)
        return ids

    def summary(self, path: str) -> tuple[str, tuple[str, ...]] | None:
        """Return the title and the aliases of an entity's page, or None if it has no row."""
        query = "SELECT title, aliases FROM entity WHERE name = ?"
        row = self._index.database.execute(query, (name_of_path(path) or path,)).fetchone()
        return (row[0], tuple(json.loads(row[1]))) if row else None

    def texts(self, event_ids: Collection[str]) -> dict[str, str]:
        """Return the texts, as said, of events in the ledger files that were returned, by id."""
        query = (
            "SELECT line FROM json_each(?) AS given CROSS JOIN event INDEXED BY event_id ON event.id = given.value"
            " WHERE day IN (SELECT value FROM json_each(?))"
        )
        lines = self._index.database.execute(query, (json.dumps(sorted(event_ids)), json.dumps(sorted(self._read))))
        events = (event_from_record(json.loads(line)) for (line,) in lines)
        return {event.id: as_said(event) for event in events}

    def unread(self, reached: Mapping[str, DayProgress]) -> dict[str, int]:
        """Return how many events wait behind the cursor in the returned ledger files, without days read in part."""
        days = {day: self._days[day] for day in self._read if day in self._days}
        return {
            ledger_path(day): numbers.learned_from if day not in reached else 0
            for day, numbers in days.items()
            if day not in reached or self._is_read(numbers, reached[day])
        }

    def _is_read(self, numbers: DayEvents, progress: DayProgress) -> bool:
        row = self._index.database.execute("SELECT id FROM event WHERE n = ?", (numbers.last,)).fetchone()
        return progress.events == numbers.events and row == (progress.last,)

    def close(self) -> None:
        """Close the index."""
        self._index.close()


def _is_blob(data: bytes, name: str) -> bool:
    digest = hashlib.sha1 if len(name) == 40 else hashlib.sha256
    return digest(b"blob %d\0" % len(data) + data).hexdigest() == name
