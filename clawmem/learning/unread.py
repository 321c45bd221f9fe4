"""What of the ledger no model or agent has read: counted without what learning needs, which takes long to load."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import NamedTuple

from clawmem.index.refresh import run_query
from clawmem.index.tables.contents import messages_by_day
from clawmem.llm.choice import reads_sessions_of
from clawmem.model.harness import HARNESSES, harness_of
from clawmem.model.records.cursor import CURSOR_PATH, DayProgress, events_after, parse_cursor
from clawmem.model.records.event import Event, parse_events
from clawmem.model.safety.recalled_text import has_words
from clawmem.vault.state.reading_state import EventProgress, ReadingState, read_reading_state
from clawmem.vault.vault import Vault

UNREAD = EventProgress()
Readers = Callable[[str | None], bool]
"""Whether the events of sessions with a harness, or with none, are to be read."""


def ledger_paths(vault: Vault, days: Collection[str] | None) -> list[str]:
    """Return the vault paths of the ledger files of these days, or of all days, oldest first."""
    found = sorted((vault.root / "ledger").glob("*.jsonl"))
    return [f"ledger/{path.name}" for path in found if days is None or path.stem in days]


def after_cursor(vault: Vault, state: ReadingState | None = None, newest_first: bool = False) -> Iterator[Event]:
    """Yield the events after those that a model or an agent has read, oldest first.

    With a `state`, those are left out that it marks as read or set aside.
    """
    order = reversed if newest_first else iter
    for path, data, reached in _ledgers_after(vault, newest_first):
        for event in order(events_after(parse_events(data, path), reached)):
            passed = state and (state.events.get(event.id, UNREAD).done or event.id in state.set_aside)
            if not passed:
                yield event


def _ledgers_after(vault: Vault, newest_first: bool = False) -> Iterator[tuple[str, bytes, DayProgress | None]]:
    """Yield the path, contents and progress of each ledger that no model or agent has read to its end."""
    cursor = parse_cursor(vault.read(CURSOR_PATH))
    for path in sorted(ledger_paths(vault, None), reverse=newest_first):
        data, reached = vault.read(path) or b"", cursor.by_model.get(PurePosixPath(path).stem)
        if reached and data.count(b"\n") == reached.events and reached.last.encode() in data.rsplit(b"\n", 2)[-2]:
            continue
        yield path, data, reached


class UnreadDay(NamedTuple):
    """The waiting events of a day, read when asked for, and how many messages are among them by their harness, or None
    if the index does not know."""

    events: Iterable[Event]
    by_harness: Mapping[str | None, int] | None = None


def unread_days(vault: Vault, state: ReadingState, skip: Collection[str] = ()) -> Iterator[UnreadDay]:
    """Yield the days after the cursor, oldest first. The index counts what no state and no `skip` names."""
    apart = {*state.events, *state.set_aside, *skip}
    known = run_query(vault, lambda index: messages_by_day(index, apart))
    for path, data, reached in _ledgers_after(vault):
        counted_day = known.get(PurePosixPath(path).stem)
        by_harness = counted_day.by_harness if counted_day and not reached and counted_day.are_of(data) else None
        yield UnreadDay(_events_of_day(path, data, reached, state), by_harness)


def _events_of_day(path: str, data: bytes, reached: DayProgress | None, state: ReadingState) -> Iterator[Event]:
    for event in events_after(parse_events(data, path), reached):
        if not state.events.get(event.id, UNREAD).done and event.id not in state.set_aside:
            yield event


def _waiting_by_harness(vault: Vault) -> Counter[str | None]:
    found = Counter[str | None]()
    for day in unread_days(vault, read_reading_state(vault)):
        found.update(map(harness_of, filter(has_words, day.events)) if day.by_harness is None else day.by_harness)
    return found


def reader_of(harness: str | None, with_none: bool = True) -> Readers:
    """Return what the reader of a harness reads: no session with another one and, unless `with_none`, no session with
    none. Who is no harness reads all."""
    if harness not in HARNESSES:
        return lambda name: True
    return lambda name: name == harness or (with_none and name not in HARNESSES)


def unread_by_harness(vault: Vault) -> dict[str, int]:
    """Return how many messages wait of the sessions with each harness that no model of this machine reads."""
    counts = {name: number for name, number in _waiting_by_harness(vault).items() if name in HARNESSES}
    return {name: number for name, number in counts.items() if name and not reads_sessions_of(vault.settings, name)}


def waiting_count(vault: Vault) -> int:
    """Return how many events wait for a model or an agent; those with a credential, which nobody is shown, count."""
    return _waiting_by_harness(vault).total()
