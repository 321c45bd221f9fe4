"""The lines of notes by where they stand: an entity's summary, an agent's pages, the newest of its daily notes.

Every row that is told is held against its seal; RowDamaged says that it is not what was written.
"""

import json
from collections.abc import Collection, Sequence
from typing import NamedTuple

from clawmem.index.tables.seals import check_event, check_note
from clawmem.index.tables.store import Index
from clawmem.model.records.event import event_from_record, is_visible_to

_LINE = "n, path, place, day, owner, text, seal, tokens"


class NoteRow(NamedTuple):
    """One line that people or an agent wrote; `tokens` are those of its line of context, None where not counted."""

    n: int
    path: str
    day: str | None
    text: str
    tokens: int | None


def lines_of(index: Index, paths: Sequence[str], most: int) -> list[NoteRow]:
    """The lines of some pages, in the order of the pages and of their lines, `most` of each page."""
    query = f"SELECT {_LINE} FROM note WHERE path = ? ORDER BY place LIMIT ?"
    return [_note(*row) for path in paths for row in index.database.execute(query, (path, most))]


def newest_lines(index: Index, folder: str, most: int) -> list[NoteRow]:
    """The last lines of a folder's pages, whose names begin with their days; the newest first."""
    rows = index.database.execute(
        f"SELECT {_LINE} FROM note WHERE path >= ? AND path < ? ORDER BY path DESC, place DESC LIMIT ?",
        (f"{folder}/", f"{folder}0", most),
    )
    return [_note(*row) for row in rows]


def _note(
    n: int, path: str, place: int, day: str | None, owner: str, text: str, given: int, tokens: int | None
) -> NoteRow:
    check_note(n, path, place, day, owner, text, given)
    return NoteRow(n, path, day, text, tokens)


def has_events(index: Index) -> bool:
    """Whether anything was said at all."""
    return index.database.execute("SELECT 1 FROM event LIMIT 1").fetchone() is not None


class EventRecord(NamedTuple):
    """What the heartbeat found out of an event: the exact tokens of its line, the most where its id stands twice, None
    where they are not counted; whether it reads as an order (`clawmem.index.tables.order_verdicts`)."""

    tokens: int | None = None
    verdicts: tuple[int | None, ...] = ()


def kept_of(index: Index, ids: Sequence[str]) -> dict[str, EventRecord]:
    """What is kept of some events beside their lines."""
    rows = index.database.execute(
        "SELECT event.id, tokens, verdict FROM json_each(?) AS given CROSS JOIN event ON event.id = given.value",
        (json.dumps(list(ids)),),
    )
    found: dict[str, EventRecord] = {}
    for event_id, tokens, verdict in rows:
        before = found.get(event_id, EventRecord(tokens))
        most = None if tokens is None or before.tokens is None else max(tokens, before.tokens)
        found[event_id] = EventRecord(most, (*before.verdicts, verdict))
    return found


def events_between(index: Index, first: str, last: str, most: int) -> list[str]:
    """The records of what was said on some days, both included, oldest first, `most` at most. What came out of this
    memory is left out."""
    rows = index.database.execute(
        "SELECT n, id, day, line, seal FROM event WHERE day BETWEEN ? AND ? AND recalled = 0 ORDER BY day, n LIMIT ?",
        (first, last, most),
    )
    return [_line(*row) for row in rows]


def events_said(index: Index, first: str, last: str, owners: Collection[str]) -> int:
    """How many events there are of some days, both included, without what came out of this memory and what only other
    agents than the `owners` noted."""
    source = "FROM event WHERE day BETWEEN ? AND ? AND recalled = 0"
    (number,) = index.database.execute(f"SELECT count(*) {source}", (first, last)).fetchone()
    noted = index.database.execute(f'SELECT line {source} AND instr(line, \'"role": "note"\')', (first, last))
    return int(number) - sum(not is_visible_to(event_from_record(json.loads(line)), owners) for (line,) in noted)


def _line(n: int, event_id: str, day: str, line: str, given: int) -> str:
    check_event(n, event_id, day, line, given)
    return line


def days_of(index: Index, event_ids: Sequence[str]) -> dict[str, str]:
    """The days of some events; ids that the ledger does not hold are left out."""
    rows = index.database.execute(
        "SELECT n, event.id, day, line, seal FROM json_each(?) AS given CROSS JOIN event ON event.id = given.value",
        (json.dumps(list(event_ids)),),
    )
    found = {}
    for n, event_id, day, line, given in rows:
        check_event(n, event_id, day, line, given)
        found[event_id] = day
    return found
