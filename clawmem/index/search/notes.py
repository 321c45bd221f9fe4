"""Note lines by location: an entity's summary, an agent's pages, the newest daily notes; and the stored data of events.

Every row that is returned is checked against its seal. RowDamaged is raised if it does not match.
"""

import json
from collections.abc import Collection, Sequence

from clawmem.index.tables.schema import check_sealed
from clawmem.index.tables.store import Index
from clawmem.model.named_tuple import NamedTuple
from clawmem.model.records.event import Event, event_from_record, is_visible_to
from clawmem.model.records.layout import TASKS

_LINE = "n, path, place, day, owner, text, seal, tokens"


class NoteRow(NamedTuple):
    """A line that people or an agent wrote. `tokens` are those of its context line, None if not counted."""

    n: int
    path: str
    day: str | None
    text: str
    tokens: int | None


def note_lines(index: Index, paths: Sequence[str], most: int) -> list[NoteRow]:
    """Return the lines of some pages, in the order of the pages and their lines, at most `most` of each page."""
    query = f"SELECT {_LINE} FROM note WHERE path = ? ORDER BY place LIMIT ?"
    return [_note(*row) for path in paths for row in index.database.execute(query, (path, most))]


def newest_lines(index: Index, folder: str, most: int) -> list[NoteRow]:
    """Return the last lines of a folder's pages, whose names start with their day, newest first."""
    rows = index.database.execute(
        f"SELECT {_LINE} FROM note WHERE path >= ? AND path < ? ORDER BY path DESC, place DESC LIMIT ?",
        (f"{folder}/", f"{folder}0", most),
    )
    return [_note(*row) for row in rows]


def open_tasks(index: Index, names: Collection[str] | None, free: bool) -> list[NoteRow]:
    """Return the line of each task that `is_open_for` some names, by priority."""
    from clawmem.model.records.task import is_open_for  # few questions ask for tasks

    rows = index.database.execute(
        f"SELECT {_LINE} FROM note WHERE path >= ? AND path < ? AND place = 1 ORDER BY text, path",
        (f"{TASKS}/", f"{TASKS}0"),
    )
    return [_note(*row) for row in rows if is_open_for(row[5], names, free)]


def lines_between(index: Index, first: str, last: str, owners: Collection[str]) -> list[tuple[NoteRow, int]]:
    """Return the lines of the notes of some days (inclusive), each with its number in the page, in their order."""
    rows = index.database.execute(
        f"SELECT {_LINE} FROM note WHERE day BETWEEN ? AND ? AND owner IN (SELECT value FROM json_each(?))"
        " ORDER BY day, path, place",
        (first, last, json.dumps(list(owners))),
    )
    return [(_note(*row), row[2]) for row in rows]


def _note(
    n: int, path: str, place: int, day: str | None, owner: str, text: str, number: int, tokens: int | None
) -> NoteRow:
    check_sealed("note", n, path, place, day, owner, text, number)
    return NoteRow(n, path, day, text, tokens)


def has_passages(index: Index) -> bool:
    """Return whether there are any events or lines of notes."""
    query = "SELECT EXISTS (SELECT 1 FROM event) OR EXISTS (SELECT 1 FROM note)"
    return bool(index.database.execute(query).fetchone()[0])


class EventRecord(NamedTuple):
    """What the heartbeat has computed for an event.

    `tokens` is the exact number for its context line, the maximum if its id occurs twice, and None if not counted.
    `n` is its row, in the order of the ledger. `word_counts` are those of `clawmem.model.pages.tokens.word_counts`, if
    its text is too long for a line.
    `verdicts` say whether it reads as an order (`clawmem.index.tables.background`).
    """

    tokens: int | None = None
    verdicts: tuple[int | None, ...] = ()
    word_counts: bytes | None = None
    n: int = 0


def event_records(index: Index, ids: Sequence[str]) -> dict[str, EventRecord]:
    """Return what the heartbeat has computed for some events."""
    rows = index.database.execute(
        "SELECT event.id, tokens, verdict, words, n"
        " FROM json_each(?) AS given CROSS JOIN event ON event.id = given.value",
        (json.dumps(list(ids)),),
    )
    found: dict[str, EventRecord] = {}
    for event_id, tokens, verdict, words, n in rows:
        before = found.get(event_id, EventRecord(tokens))
        most = None if tokens is None or before.tokens is None else max(tokens, before.tokens)
        found[event_id] = EventRecord(most, (*before.verdicts, verdict), words, n)
    return found


def events_between(index: Index, first: str, last: str, most: int) -> list[str]:
    """Return the records of the events on some days (inclusive), oldest first, at most `most`; none recalled."""
    rows = index.database.execute(
        "SELECT n, id, day, line, seal FROM event WHERE day BETWEEN ? AND ? AND recalled = 0 ORDER BY day, n LIMIT ?",
        (first, last, most),
    )
    return [_line(*row) for row in rows]


def count_events(index: Index, first: str, last: str, owners: Collection[str]) -> int:
    """Return the number of events on some days (inclusive); none recalled, no notes of agents but the `owners`."""
    source = "FROM event WHERE day BETWEEN ? AND ? AND recalled = 0"
    (number,) = index.database.execute(f"SELECT count(*) {source}", (first, last)).fetchone()
    noted = index.database.execute(f'SELECT line {source} AND instr(line, \'"role": "note"\')', (first, last))
    return int(number) - sum(not is_visible_to(event_from_record(json.loads(line)), owners) for (line,) in noted)


def _line(n: int, event_id: str, day: str, line: str, number: int) -> str:
    check_sealed("event", n, event_id, day, line, number)
    return line


def events_with_ids(index: Index, ids: Sequence[str]) -> dict[str, Event]:
    """Return the events with some ids, by id, without recalled ones. Ids that are not in the ledger are left out."""
    rows = index.database.execute(
        "SELECT n, event.id, day, line, seal FROM json_each(?) AS given CROSS JOIN event ON event.id = given.value"
        " WHERE recalled = 0",
        (json.dumps(list(ids)),),
    )
    return {row[1]: event_from_record(json.loads(_line(*row))) for row in rows}


def days_of(index: Index, event_ids: Sequence[str]) -> dict[str, str]:
    """Return the days of some events. Ids that are not in the ledger are left out."""
    rows = index.database.execute(
        "SELECT n, event.id, day, line, seal FROM json_each(?) AS given CROSS JOIN event ON event.id = given.value",
        (json.dumps(list(event_ids)),),
    )
    found = {}
    for n, event_id, day, line, other in rows:
        check_sealed("event", n, event_id, day, line, other)
        found[event_id] = day
    return found
