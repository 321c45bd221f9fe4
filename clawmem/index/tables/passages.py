"""Events and note lines as rows of the index, with their pieces for keyword search."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from clawmem.errors import ClawmemError, Unreadable
from clawmem.index.tables.keyword import Document
from clawmem.index.tables.schema import MODEL_RUN, OTHER, SPOKEN
from clawmem.index.tables.store import Index
from clawmem.model.facts.fact_words import UNREVIEWED
from clawmem.model.harness import harness_of
from clawmem.model.language.text import one_line
from clawmem.model.pages.daily import MEMORY_TEMPLATE, day_and_agent, note_lines, written_lines
from clawmem.model.records.event import (
    ENTRY,
    FOR_SOME,
    TITLE,
    Event,
    each_event,
    event_from_record,
    event_to_line,
    is_hidden_in_part,
    line_of,
    marked_by,
    parse_events,
)
from clawmem.model.records.event import (
    MODEL_RUN as RUN_KEY,
)
from clawmem.model.records.layout import TASKS, WIKI, agent_of
from clawmem.model.records.session import REVOKED, UNREPORTED
from clawmem.model.records.strict_json import checksum, read_json
from clawmem.model.safety.recalled_text import has_words
from clawmem.model.search.event_ranking import is_question
from clawmem.model.search.passage import LINE, PART, SPREAD, search_texts

_EVENT = (
    "INSERT INTO event (n, id, day, sitting, place, speaker, role, size, asks, recalled, kind, harness, mark,"
    " line, seal) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_NOTE = "INSERT INTO note (n, path, place, day, owner, text, seal) VALUES (?, ?, ?, ?, ?, ?, ?)"
_BATCH = 1000
# The sitting of lines that tell a message, whose place is the row of the message or -1, and of marks.
_LINES = ""
_SITTING = "INSERT INTO sitting VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET turns = excluded.turns"

# The numbers of `DayEvents`: what was added is counted, and not the day again.
_LEDGER = (
    "INSERT INTO ledger SELECT ?1, ?2, ?3, count(*), coalesce(max(n), 0),"
    f" coalesce(sum(kind != {MODEL_RUN}), 0), coalesce(sum(kind = {SPOKEN}), 0) FROM event INDEXED BY event_day"
    " WHERE day = ?1 AND n > coalesce((SELECT last_n FROM ledger WHERE day = ?1), 0) ON CONFLICT (day) DO UPDATE SET"
    " size = excluded.size, crc = excluded.crc, events = events + excluded.events,"
    " last_n = max(last_n, excluded.last_n), learned_from = learned_from + excluded.learned_from,"
    " spoken = spoken + excluded.spoken"
)


def take_in_ledger(index: Index, path: str, data: bytes | None) -> None:
    """Update the index with the events of a day. If lines were only appended, only those are read."""
    day = path.removeprefix("ledger/").removesuffix(".jsonl")
    content = data or b""
    size = _known_size(index, day, content)
    if size is None:
        _delete_day(index, day)
        size = 0
    try:
        _add_events(index, day, each_event(content[size:], path))
    except Unreadable:
        _delete_day(index, day)
        parse_events(content, path)  # raises with the line number in the whole file
        raise
    if data is not None:
        index.database.execute(_LEDGER, (day, len(content), zlib.crc32(content)))


def _known_size(index: Index, day: str, content: bytes) -> int | None:
    """Return the number of leading bytes that are already indexed, or None if they have changed."""
    row = index.database.execute("SELECT size, crc FROM ledger WHERE day = ?", (day,)).fetchone()
    if row is None or not 0 < row[0] <= len(content) or content[row[0] - 1 : row[0]] != b"\n":
        return None
    return row[0] if zlib.crc32(memoryview(content)[: row[0]]) == row[1] else None


def _delete_day(index: Index, day: str) -> None:
    rows = index.database.execute("SELECT n, line, place, mark FROM event WHERE day = ?", (day,)).fetchall()
    if rows:
        events = ((n, event_from_record(json.loads(line)), place, mark) for n, line, place, mark in rows)
        index.passage_engine.remove(
            document
            for n, event, place, mark in events
            for document in (*_event_documents(n, event, place), *_part_documents(n, event, mark))
        )
        gone = "DELETE FROM sitting WHERE name IN (SELECT DISTINCT sitting FROM event WHERE day = ?)"
        index.database.execute(gone, (day,))
        index.database.execute("DELETE FROM event WHERE day = ?", (day,))
    index.database.execute("DELETE FROM ledger WHERE day = ?", (day,))


def _add_events(index: Index, day: str, events: Iterator[Event]) -> None:
    """Add the events that are not known yet, in batches, because a day may hold any number of them."""
    known = {row[0] for row in index.database.execute("SELECT id FROM event WHERE day = ?", (day,))}
    fresh = _unknown(events, known)
    while batch := list(islice(fresh, _BATCH)):
        _add_batch(index, day, batch)


def _unknown(events: Iterable[Event], known: set[str]) -> Iterator[Event]:
    """Yield the events whose id is not known, each id once."""
    for event in events:
        if event.id not in known:
            known.add(event.id)
            yield event


def _add_batch(index: Index, day: str, events: Sequence[Event]) -> None:
    last = index.database.execute("SELECT coalesce(max(n), 0) FROM event").fetchone()[0]
    turns: dict[str, int] = {}
    rows, documents = [], []
    marks = [(event, target) for event in events if (target := marked_by(event)) is not None]
    messages = {event.id: event for event in events if line_of(event) is None and marked_by(event) is None}
    numbers = dict(zip(messages, range(last + 1, last + 1 + len(messages)), strict=True))
    group: set[int] = set()
    for event in (*messages.values(), *(event for event in events if event.id not in messages)):
        last += 1
        target = line_of(event)
        if marked_by(event) is not None:
            rows.append(_event_row(last, day, _LINES, -1, event))
            continue
        if target is not None:
            place = _told_message(index, day, target, messages, numbers)
            place = -1 if place in group else place
            group.add(place)
            rows.append(_event_row(last, day, _LINES, place, event))
            documents += _event_documents(last, event, place)
            continue
        sitting = f"{day} {event.session}" if event.session else day
        if ENTRY in (event.metadata or {}):
            rows.append(_event_row(last, day, f"{day} {event.id}", 0, event))
        else:
            if sitting not in turns:
                turns[sitting] = _turns_of(index, sitting)
            rows.append(_event_row(last, day, sitting, turns[sitting], event))
            turns[sitting] += 1
        documents += _event_documents(last, event, 0)
    index.passage_engine.add(documents)
    index.database.executemany(_EVENT, rows)
    for event, target in marks:
        _mark_message(index, day, target, event)
    index.database.executemany(_SITTING, turns.items())


def _mark(event: Event) -> str | None:
    from clawmem.model.records.access import mark_of_event, mark_text  # few messages say for whom they are

    return mark_text(mark_of_event(event)) or None


def _mark_message(index: Index, day: str, target: str, event: Event) -> None:
    from clawmem.model.records.access import marked_again  # few messages are marked

    query = "SELECT n, mark, line FROM event WHERE id = ? AND day = ?"
    for n, before, line in index.database.execute(query, (target, day)).fetchall():
        message = event_from_record(json.loads(line))
        mark = marked_again(before, event, message) or None
        index.passage_engine.remove(_part_documents(n, message, before))
        index.passage_engine.add(_part_documents(n, message, mark))
        index.database.execute("UPDATE event SET mark = ? WHERE n = ?", (mark, n))


def _part_documents(n: int, message: Event, mark: str | None) -> list[Document]:
    """Return the parts of a message that more people may see than the whole; they are found for these alone."""
    if mark is None:
        return []
    from clawmem.model.records.access import mark_in  # few messages are marked

    parts = enumerate(mark_in(mark).parts, n * SPREAD + PART)
    return [
        Document(piece, "\n".join(search_texts(part.words, message.speaker, message.timestamp)))
        for piece, part in parts
    ]


def _told_message(
    index: Index, day: str, target: str, messages: Mapping[str, Event], numbers: Mapping[str, int]
) -> int:
    """Return the row of the message that a line tells, or -1 if it has a line already, or is hidden in any part."""
    message, n = messages.get(target), numbers.get(target, -1)
    if message is None:
        query = "SELECT n, line FROM event WHERE id = ? AND day = ?"
        row = index.database.execute(query, (target, day)).fetchone()
        if row is None:
            return -1
        n, message = row[0], event_from_record(json.loads(row[1]))
    taken = index.database.execute("SELECT 1 FROM event WHERE sitting = ? AND place = ?", (_LINES, n)).fetchone()
    return -1 if taken or is_hidden_in_part(message) else n


def _turns_of(index: Index, sitting: str) -> int:
    row = index.database.execute("SELECT turns FROM sitting WHERE name = ?", (sitting,)).fetchone()
    return row[0] if row else 0


def _event_row(n: int, day: str, sitting: str, place: int, event: Event) -> tuple[object, ...]:
    line = event_to_line(event)
    asks, recalled = int(is_question(event.text)), int(event.recalled)
    kind = MODEL_RUN if RUN_KEY in (event.metadata or {}) else SPOKEN if has_words(event) else OTHER
    mark = _mark(event) if event.metadata and not event.metadata.keys().isdisjoint(FOR_SOME) else None
    return (
        *(n, event.id, day, sitting, place, event.speaker, event.role, len(event.text), asks, recalled, kind),
        *(harness_of(event), mark, line),
        checksum(n, event.id, day, line),
    )


def _event_documents(n: int, event: Event, place: int) -> list[Document]:
    if line_of(event) is not None:
        return [Document(place * SPREAD + LINE, event.text)] if place >= 0 else []
    if event.recalled:
        return []  # recalled text would only find itself
    title = (event.metadata or {}).get(TITLE) if not is_hidden_in_part(event) else None
    texts = search_texts(f"{title}\n{event.text}" if title else event.text, event.speaker, event.timestamp)
    return [Document(n * SPREAD + part, text) for part, text in enumerate(texts)]


def take_in_page(index: Index, path: str, lines: Iterable[str]) -> None:
    """Update the index with the lines of a page that people or agents write."""
    execute = index.database.execute
    place = day_and_agent(path)
    # What a session hands on is for its project, whoever the agent was: who asks from another one is told nothing.
    day, owner = place or (None, None if path.endswith(".json") else agent_of(path))
    old = execute("SELECT n, text, day FROM note WHERE path = ?", (path,)).fetchall()
    index.passage_engine.remove(document for n, text, on in old for document in _note_documents(n, text, on))
    execute("DELETE FROM note WHERE path = ?", (path,))
    fresh = execute("SELECT coalesce(max(n), 0) FROM note").fetchone()[0]
    values = [(fresh + at, path, at, day, owner or "", line) for at, line in enumerate(lines, 1)]
    rows = [(*row, checksum(*row)) for row in values]
    index.passage_engine.add(document for row in rows for document in _note_documents(row[0], row[5], day))
    index.database.executemany(_NOTE, rows)


def _note_documents(n: int, text: str, day: str | None) -> list[Document]:
    # Negative, because events have positive numbers. The first piece of row n is -(n * SPREAD).
    texts = search_texts(text, None, day or "")
    return [Document(-(n * SPREAD + part), words) for part, words in enumerate(texts)]


def page_lines(path: str, data: bytes | None) -> list[str]:
    """Return the lines that people wrote on a page, without comments and generated parts; headings only of the wiki.
    The lines of a session record are what the session hands on. The first line of a task says what it is."""
    if path.endswith(".json"):
        return _handed_on(data)
    if path.startswith(f"{TASKS}/") and data is not None:
        return _task_lines(path, data)
    text = (data or b"").decode(errors="replace")
    if path.startswith(f"{WIKI}/"):
        return list(written_lines(text))
    return [line.text for line in note_lines(text) if line.text != MEMORY_TEMPLATE]


def _task_lines(path: str, data: bytes) -> list[str]:
    """Return the line that says what a task is, and the lines of its page, which an agent or a foreign system may have
    written: none that reads as an order to the reader. There are none where it cannot be read."""
    from clawmem.model.proposals.quarantine import order_handed_on
    from clawmem.model.records.task import parse_task, task_line  # few files are tasks
    from clawmem.vault.strict_yaml import parse_yaml

    try:
        task = parse_task(data, path, parse_yaml)
    except ClawmemError:
        return []  # the check of the vault names an unreadable task
    lines = [task_line(task), *(line.text for line in note_lines(task.body))]
    return [line if order_handed_on(line) is None else "" for line in lines]


def _handed_on(data: bytes | None) -> list[str]:
    """Return what a session hands on, labelled; no text that reads as an order, and nothing of a revoked one."""
    from clawmem.model.proposals.quarantine import order_handed_on  # few sessions end

    try:
        record = read_json(data or b"{}")
        if record.get("state") == REVOKED:
            return []
        reflection = record.get("reflection") or {}
        items = [("summary", record.get("summary"))]
        items += [(name, other) for name in ("learned", "watch_for") for other in reflection.get(name) or ()]
        items += [("note", note.get("text")) for note in record.get("notes") or ()]
    except (ValueError, AttributeError):
        return []  # the check of the vault names an unreadable record
    return [
        f"{name.replace('_', ' ')}: {one_line(text)} ({UNREVIEWED})"
        for name, text in items
        if isinstance(text, str) and text and not text.startswith(UNREPORTED) and order_handed_on(text) is None
    ]
