"""Units of a context from what people and agents wrote: pages, notes, summaries and events."""

import json
import re
from collections.abc import Collection, Mapping, Sequence

from clawmem.index.search.channels import FactFilter
from clawmem.index.search.events import (
    EventRecord,
    NoteRow,
    count_events,
    event_records,
    events_between,
    lines_between,
    newest_lines,
    note_lines,
    open_tasks,
)
from clawmem.index.search.replaced import outdated_remarks
from clawmem.index.tables.background import reads_as_order
from clawmem.index.tables.store import Index
from clawmem.model.facts.reach import PROJECT, Reach
from clawmem.model.language.question import DaySpan, search_words, tasks_asked
from clawmem.model.language.text import shorten
from clawmem.model.named_tuple import NamedTuple
from clawmem.model.pages.packing import Unit
from clawmem.model.pages.tokens import counted_event_line, servable, token_bound
from clawmem.model.proposals.quarantine import WITHHELD, order_handed_on, orders_in_text
from clawmem.model.records.entity import name_of_path, summary_path
from clawmem.model.records.event import Event, event_from_record, is_speech, is_visible_to

MOST_LINES = 200
_LONGEST_PROSE = 600
_UNKNOWN = EventRecord()


def page_units(index: Index, path: str) -> list[Unit]:
    """Return the lines of a page as units."""
    return [_unit(note) for note in note_lines(index, [path], MOST_LINES)]


def line_units(title: str, lines: Sequence[str]) -> list[Unit]:
    """Return lines that an extension gives as units."""
    texts = [f"- {servable(line)}\n" for line in lines[:MOST_LINES]]
    return [Unit(f"{title} {place}", token_bound(text), False, text) for place, text in enumerate(texts)]


def tasks_for(index: Index, question: str, agent: str | None, at_start: bool = False) -> list[NoteRow]:
    """Return the open tasks that a question asks for, by priority; `at_start` those that an agent may work on."""
    whose = tasks_asked(question)
    if whose is None and not (at_start and agent):
        return []
    own = whose is None or re.search(r"\b(?:I|me|my)\b", question) is not None
    if agent and own:
        return open_tasks(index, {agent}, free=True)
    return open_tasks(index, set(whose.split()) if whose else None, free=False)


def task_units(rows: Sequence[NoteRow]) -> list[Unit]:
    """Return the lines of tasks as units."""
    return [_unit(row) for row in rows]


def recent_units(index: Index, agent: str, most: int) -> list[Unit]:
    """Return the last lines of an agent's sessions and days, newest first, each with its day; no orders."""
    folders = (f"agents/{agent}/sessions", f"agents/{agent}/daily")
    notes = [note for folder in folders for note in newest_lines(index, folder, most)]
    # What the records of sessions hand on is shown where a session of the same project begins.
    notes = [note for note in notes if not note.path.endswith(".json") and order_handed_on(note.text) is None]
    return [_unit(note, f"- {note.day}:" if note.day else "-") for note in notes]


def summary_units(index: Index, entities: Sequence[str], found: Collection[tuple[str, str]] = ()) -> list[Unit]:
    """Return what people wrote in summaries, with path and text, after the lines that were `found`."""
    pages = dict.fromkeys(path for path, _ in found)
    rows = [row for path in pages for row in note_lines(index, [path], MOST_LINES) if (path, row.text) in found]
    rows += [row for row in note_lines(index, [summary_path(name) for name in entities], 1) if row not in rows]
    return [_unit(row, f"- {row.day or name_of_path(row.path) or row.path}:") for row in rows]


def event_units(
    index: Index, span: DaySpan, owners: Collection[str], most: int, moment: str, reach: Reach | None = None
) -> tuple[list[tuple[str, Unit]], int]:
    """Return the first `most` events of the days and those that tell of them later, each with its time, and the number
    of further ones.

    Events that read as orders, that nobody said, notes of agents other than `owners`, and what is beyond `reach` are
    left out.
    """
    from clawmem.index.search.events import told_later  # few questions name days

    found = [event_from_record(json.loads(line)) for line in events_between(index, span.first, span.last, most)]
    events = [event for event in found if is_visible_to(event, owners, reach)]
    times = {event.id: event.timestamp for event in events}
    further = count_events(index, span.first, span.last, owners) - len(events) if len(found) == most else 0
    events += [event for event in told_later(index, span).values() if is_visible_to(event, owners, reach)]
    times |= {event.id: event.timestamp for event in events}
    spoken = [event for event in events if is_speech(event)]
    items = said_units(index, spoken, outdated_remarks(index, spoken, moment))
    return [(times[str(unit.key)], unit) for unit in items], further


def noted_units(index: Index, span: DaySpan, owners: Collection[str]) -> list[tuple[str, Unit]]:
    """Return the lines of the notes of the days, each with its day; an agent's only for itself."""
    return [
        (row.day or "", _unit(row, f"- {row.day}:")) for row, _ in lines_between(index, span.first, span.last, owners)
    ]


def said_units(
    index: Index, events: Sequence[Event], outdated: Mapping[str, str], words: Sequence[str] = ()
) -> list[Unit]:
    """Return some events as units, without those that read as orders, of long ones the part with the words.

    What taught something that no longer holds says what holds instead: `outdated`, by id.
    """
    kept = event_records(index, [event.id for event in events])
    known = [(event, kept.get(event.id, _UNKNOWN)) for event in events]
    return [
        _said(event, record, words, outdated.get(event.id, ""))
        for event, record in known
        if not reads_as_order(event, record.verdicts)
    ]


def orders_remark(left_out: int, command: str) -> str | None:
    """Return a remark on events that were left out as orders, or None."""
    if not left_out:
        return None
    return f"{left_out} left out because they read as orders; show them with `{command} --in events`"


def _said(event: Event, record: EventRecord, words: Sequence[str], outdated: str) -> Unit:
    text, tokens = counted_event_line(event, words, record.tokens, record.word_counts)
    exact = tokens is not None and not outdated
    if outdated:
        remark = f", {servable(outdated)}"
        text = f"{text.removesuffix(')' + chr(10))}{remark})\n"
        tokens = tokens and tokens + token_bound(f"{remark})")
    return Unit(event.id, tokens or token_bound(text), exact, text, when=(event.timestamp, record.n))


def _unit(note: NoteRow, before: str = "-") -> Unit:
    """The line of a page, whose file does not say who wrote the line: a forged order in it is withheld."""
    words = servable(note.text)
    shown = WITHHELD if orders_in_text(note.text, outside=False) else shorten(words, _LONGEST_PROSE)
    text = f"{before} {shown}\n"
    if note.tokens is None or shown != words:
        return Unit(f"note {note.n}", token_bound(text), False, text)
    # The stored count is that of `- ` and the text; a dash alone is one token.
    return Unit(f"note {note.n}", note.tokens - 1 + (1 if before == "-" else token_bound(before)), before == "-", text)


# A longer question is repeated by its search words alone, as far as there is room.
_LONGEST_ASKED = 80


class FollowUpCommands(NamedTuple):
    """The commands that list a filter's facts, that answer a question, and that show weak hits, events and notes, too.

    Without a question, the last two are the command that lists.
    """

    list: str
    recall: str
    others: str


def follow_up_commands(wanted: FactFilter, question: str | None) -> FollowUpCommands:
    """Return the commands with the options of this reader's filter."""
    items = (
        ("agent", next((owner for owner in wanted.owners if owner), None)),
        ("entity", wanted.entity),
        ("category", wanted.category and shell_quoted(wanted.category)),
        ("tag", wanted.tag and shell_quoted(wanted.tag)),
        ("as-of", wanted.as_of),
        ("since", wanted.since),
        ("until", wanted.until),
        *_scope_options(wanted),
    )
    options = "".join(f" --{name} {value}" for name, value in items if value)
    listed = f"clawmem list{options}"
    if not question:
        return FollowUpCommands(listed, listed, listed)
    short = question if len(question) <= _LONGEST_ASKED else " ".join(search_words(question))
    recall = f"clawmem recall {shell_quoted(short)}{options}"
    return FollowUpCommands(listed, recall, f"{recall}{' --in all' if options else ''} --all")


def _scope_options(wanted: FactFilter) -> tuple[tuple[str, str | None], ...]:
    reach = wanted.reach
    if reach is None or reach.others_hidden:
        return ()
    # The project is that of the folder in which the reader runs the command.
    scope = None if reach.scope == PROJECT and reach.workflow else reach.scope
    return ("workflow", reach.workflow), ("scope", scope)


def shell_quoted(words: str) -> str:
    """Return words as one shell argument, shortened and on one line."""
    text = shorten(servable(words), _LONGEST_ASKED).replace("`", "'")
    return "'" + text.replace("'", "'\\''") + "'"


def replaced_remark(wanted: FactFilter, question: str, moment: str) -> str:
    """Return the remark that facts of a moment were replaced later and left out, with the command to show them."""
    shows = follow_up_commands(wanted._replace(as_of=moment), question).recall
    return f"facts that were valid on {moment} were replaced later: show them with `{shows}`"
