"""What people and agents wrote themselves, as units of a context: pages, notes, summaries, and what was said."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence

from clawmem.index.search.notes import (
    EventRecord,
    NoteRow,
    events_between,
    events_said,
    kept_of,
    lines_of,
    newest_lines,
)
from clawmem.index.tables.order_verdicts import reads_as_order
from clawmem.index.tables.store import Index
from clawmem.model.language.question import DaySpan
from clawmem.model.pages.packing import Unit
from clawmem.model.pages.tokens import cut, event_line, servable, token_bound
from clawmem.model.records.entity import summary_path
from clawmem.model.records.event import Event, event_from_record, is_visible_to

MOST_LINES = 200
_LONGEST_PROSE = 600
_UNKNOWN = EventRecord()


def page_units(index: Index, path: str) -> list[Unit]:
    """The lines of a page."""
    return [_unit(note) for note in lines_of(index, [path], MOST_LINES)]


def recent_units(index: Index, agent: str, most: int) -> list[Unit]:
    """The last lines an agent wrote on its sessions and in its daily notes, newest first, each with its day."""
    folders = (f"agents/{agent}/sessions", f"agents/{agent}/daily")
    notes = [note for folder in folders for note in newest_lines(index, folder, most)]
    return [_unit(note, f"- {note.day}:" if note.day else "-") for note in notes]


def summary_units(index: Index, entities: Sequence[str]) -> list[Unit]:
    """What people wrote on the summaries of some entities."""
    names = {summary_path(name): name for name in entities}
    return [_unit(note, f"- {names[note.path]}:") for note in lines_of(index, list(names), 1)]


def event_units(index: Index, span: DaySpan, owners: Collection[str], most: int) -> tuple[list[tuple[str, Unit]], int]:
    """The first `most` of what was said on the days, each with its time, and how many more there are; what reads as an
    order is left out, and what only other agents than the `owners` noted."""
    told = [event_from_record(json.loads(line)) for line in events_between(index, span.first, span.last, most)]
    events = [event for event in told if is_visible_to(event, owners)]
    times = {event.id: event.timestamp for event in events}
    further = events_said(index, span.first, span.last, owners) - len(events) if len(told) == most else 0
    return [(times[str(unit.key)], unit) for unit in said_units(index, events)], further


def said_units(index: Index, events: Sequence[Event]) -> list[Unit]:
    """Some events, but those that read as an order."""
    kept = kept_of(index, [event.id for event in events])
    known = [(event, kept.get(event.id, _UNKNOWN)) for event in events]
    return [_said(event, one.tokens) for event, one in known if not reads_as_order(event, one.verdicts)]


def orders_remark(left_out: int, command: str) -> str | None:
    """How many of some events were left out as orders, and what shows them."""
    if not left_out:
        return None
    return f"{left_out} left out: read as orders; `{command} --in events` shows them"


def _said(event: Event, tokens: int | None) -> Unit:
    text = event_line(event)
    return Unit(event.id, token_bound(text) if tokens is None else tokens, tokens is not None, text)


def _unit(note: NoteRow, before: str = "-") -> Unit:
    words = servable(note.text)
    shown = cut(words, _LONGEST_PROSE)
    text = f"{before} {shown}\n"
    if note.tokens is None or shown != words:
        return Unit(f"note {note.n}", token_bound(text), False, text)
    # The kept count is that of `- ` and the words: a dash alone is one token.
    return Unit(f"note {note.n}", note.tokens - 1 + (1 if before == "-" else token_bound(before)), before == "-", text)
