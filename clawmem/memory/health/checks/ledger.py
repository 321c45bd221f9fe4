"""The ledger: every event readable, once, on its day; and the evidence that facts quote from it."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from io import BytesIO
from itertools import pairwise
from pathlib import PurePosixPath
from typing import NamedTuple

from clawmem.errors import ClawmemError, InvalidInput, Unreadable
from clawmem.llm.choice import missing_keys, missing_model_part
from clawmem.memory.health.checks import ERROR, INFO, WARNING, HealthProblem
from clawmem.memory.health.checks.facts import CheckedFact
from clawmem.memory.health.status import failure_sentences, missing_key_sentence
from clawmem.model.language.dates import day_of, moment_of
from clawmem.model.language.text import counted
from clawmem.model.records.cursor import CURSOR_PATH, DayProgress, number_after, parse_cursor
from clawmem.model.records.event import (
    EVENT_ROLES,
    MODEL_RUN,
    Event,
    each_event,
    event_from_record,
    line_of,
    marked_by,
    runs_in,
)
from clawmem.model.records.strict_json import LEDGER_LINE_BYTES, read_json
from clawmem.vault.state.heartbeat_state import HeartbeatRun, read_last_run
from clawmem.vault.vault import Vault


class LedgerContent(NamedTuple):
    """What is wrong with one day's file, and the lines no event came of."""

    problems: tuple[HealthProblem, ...]
    unread: str = ""


class EventIds:
    """The ids of all events by file, in eight bytes each: a ledger may hold any number of events."""

    def __init__(self) -> None:
        self._digests: dict[str, array[int]] = {}

    def add(self, path: str, event_id: str) -> None:
        """Take an event of a file."""
        self._digests.setdefault(path, array("q")).append(hash(event_id))

    def digests(self, leaving_out: Collection[str] = ()) -> list[int]:
        """Those of every file but some, sorted; equal ids have equal digests."""
        return sorted(number for path, digest in self._digests.items() if path not in leaving_out for number in digest)

    def repeated(self) -> frozenset[int]:
        """Those that stand more than once."""
        return frozenset(number for number, other in pairwise(self.digests()) if number == other)

    def paths(self, digests: Collection[int]) -> list[str]:
        """The files that hold one of them, in order."""
        return sorted(path for path, digest in self._digests.items() if not set(digest).isdisjoint(digests))


def read_ledger(path: str, data: bytes, take: Callable[[int, Event], None]) -> LedgerContent:
    """Read one ledger file line by line, however broken, and give each event, with its line, to `take`."""
    problems, unread = list(_name_problems(path)), []
    day, latest, late = path.removeprefix("ledger/").removesuffix(".jsonl"), "", False
    for number, line in enumerate(BytesIO(data), 1):
        if not line.strip():
            continue
        try:
            event = _event(line)
        except (ValueError, InvalidInput, TypeError) as problem:
            problems.append(HealthProblem(ERROR, "ledger", path, number, f"The event cannot be read: {problem}."))
            unread.append(line.removesuffix(b"\n").decode(errors="replace"))
            continue
        take(number, event)
        problems += _event_problems(path, number, event, day)
        if line_of(event) is not None or marked_by(event) is not None:
            continue  # it has the time of its message
        if event.timestamp < latest and not late:
            late = True
            message = f"The event {event.id} comes after later ones; it was ingested late."
            problems.append(HealthProblem(INFO, "event-order", path, number, message))
        latest = event.timestamp
    if data and not data.endswith(b"\n"):
        problems.append(
            HealthProblem(WARNING, "ledger", path, data.count(b"\n") + 1, "The last line has no end of line.")
        )
    return LedgerContent(tuple(problems), "\n".join(unread))


def repeated_problems(read: Callable[[str], bytes], ids: EventIds) -> Iterator[HealthProblem]:
    """Events whose id another one has: the files that may hold one are read once more."""
    suspected = ids.repeated()
    if not suspected:
        return
    first: dict[str, str] = {}
    again: list[HealthProblem] = []

    def look(path: str, number: int, event: Event) -> None:
        if hash(event.id) not in suspected:
            return
        if event.id not in first:
            first[event.id] = f"{path}:{number}"
            return
        message = f"{event.id} is already the id of the event at {first[event.id]}."
        again.append(HealthProblem(ERROR, "event-unique", path, number, message))

    for path in ids.paths(suspected):
        read_ledger(path, read(path), lambda number, event, path=path: look(path, number, event))  # type: ignore[misc]
    yield from again


def _event(line: bytes) -> Event:
    record = read_json(line, LEDGER_LINE_BYTES)
    if not isinstance(record, dict):
        raise InvalidInput("it is not a JSON object")
    return event_from_record(record)


def _name_problems(path: str) -> Iterator[HealthProblem]:
    try:
        date.fromisoformat(path.removeprefix("ledger/").removesuffix(".jsonl"))
    except ValueError:
        yield HealthProblem(
            ERROR, "ledger", path, None, "A ledger file is named after its day, such as 2026-11-21.jsonl."
        )


def _event_problems(path: str, number: int, event: Event, day: str) -> Iterator[HealthProblem]:
    try:
        moment_of(event.timestamp)
    except ValueError:
        message = f"The event {event.id} has '{event.timestamp[:40]}' as its time, which is not a time."
        yield HealthProblem(ERROR, "event-time", path, number, message)
    else:
        if day_of(event.timestamp) != day:
            message = f"The event {event.id} is of {day_of(event.timestamp)} but is in the ledger of {day}."
            yield HealthProblem(ERROR, "event-day", path, number, message)
    if event.role not in EVENT_ROLES:
        message = f"The event {event.id} has the role '{event.role}', which is not one of {', '.join(EVENT_ROLES)}."
        yield HealthProblem(WARNING, "event-role", path, number, message)


def evidence_problems(facts: Iterable[CheckedFact], texts: Mapping[str, str], unread: str) -> Iterator[HealthProblem]:
    """Facts whose evidence is not, word for word, what the event they cite says.

    `texts` are the cited events' texts by id; an event in `unread`, the lines that do not parse, is not missed.
    """
    for placed in facts:
        message = _evidence_problem(placed, texts, unread)
        if message:
            yield message


def _evidence_problem(placed: CheckedFact, texts: Mapping[str, str], unread: str) -> HealthProblem | None:
    fact = placed.fact
    if fact.source_event is None:
        if fact.source_span is None:
            return None
        return placed.problem(WARNING, "evidence", f"{fact.id} has a source_span, but no source_event it is a span of.")
    text = texts.get(fact.source_event)
    if text is None:
        if f'"{fact.source_event}"' in unread:
            return None
        quoted = fact.source_span is not None or fact.source_text is not None
        message = f"{fact.id} cites the event {fact.source_event}, which is in no ledger."
        return placed.problem(ERROR if quoted else WARNING, "evidence", message)
    if fact.source_span is None:
        if fact.source_text is None or fact.source_text in text:
            return None
        return placed.problem(ERROR, "evidence", f"{fact.id} quotes words that {fact.source_event} does not say.")
    start, end = fact.source_span
    if end > len(text) or (fact.source_text is not None and text[start:end] != fact.source_text):
        message = f"{fact.id} quotes {fact.source_event} from {start} to {end}, but other words are there."
        return placed.problem(ERROR, "evidence", message)
    return None


LEARNING = "learning"
MODEL_KEY = "model-key"
MODEL = "model"
# Longer than the longest schedule of `clawmem cron install`, with room for a machine that was off.
_OVERDUE = timedelta(hours=36)
_UNREAD_FOR = timedelta(days=7)
_READ = "`clawmem setup HARNESS --learn` lets a program read; an agent reads by `clawmem learn pending`."
_SCHEDULE = "Run `clawmem heartbeat`, or schedule it with `clawmem cron install`."


def learning_problems(vault: Vault, ledgers: Iterable[str], now: datetime) -> Iterator[HealthProblem]:
    """Yield failures of the last heartbeat, events of these ledger files that wait, and missing keys of models."""
    last = read_last_run(vault)
    if last is not None:
        for sentence in failure_sentences(last):
            message = f"The heartbeat of {last.ended} failed: {sentence}"
            yield HealthProblem(WARNING, LEARNING, None, None, message)
    ledgers = sorted(ledgers)
    yield from _waiting(vault, ledgers, last, now)
    yield from _unread(vault, ledgers, now)
    try:
        missing = missing_keys(vault.settings, vault.environment)
        part = missing_model_part(vault.settings, vault.environment)
    except ClawmemError:
        return  # a newer format, which is reported with the file
    if part:
        yield HealthProblem(WARNING, MODEL, None, None, part)
    for setting, variable in missing.items():
        yield HealthProblem(WARNING, MODEL_KEY, None, None, missing_key_sentence(setting, variable))


def _unread(vault: Vault, ledgers: Sequence[str], now: datetime) -> Iterator[HealthProblem]:
    """Yield a warning if messages of a week ago are unread and nothing was read since."""
    try:
        reached = parse_cursor(vault.read(CURSOR_PATH)).by_model
        week = now - _UNREAD_FOR
        before = [path for path in ledgers if PurePosixPath(path).stem < week.date().isoformat()]
        number = sum(_unread_events(vault, path, reached) for path in before)
        after = (run for path in ledgers if path not in before for run in runs_in(vault.read(path) or b"", path))
        if number and not any(isinstance(run.get("events"), int) for run in after):
            waiting = f"{counted(number, 'event')} older than a week {'waits' if number == 1 else 'wait'}"
            message = f"{waiting} for a model, and none has read any since. {_READ}"
            yield HealthProblem(WARNING, LEARNING, None, None, message)
    except Unreadable:
        return  # reported with the file


def _unread_events(vault: Vault, path: str, reached: Mapping[str, DayProgress]) -> int:
    try:
        events = each_event(vault.read(path) or b"", path)
        mark = reached.get(PurePosixPath(path).stem)
        return number_after(events, mark, lambda event: MODEL_RUN not in (event.metadata or {}))
    except Unreadable:
        return 0  # reported with the file


def _waiting(vault: Vault, ledgers: Iterable[str], last: HeartbeatRun | None, now: datetime) -> Iterator[HealthProblem]:
    try:
        reached = parse_cursor(vault.read(CURSOR_PATH)).days
    except Unreadable:
        return  # reported with the file
    number = sum(_unread_events(vault, path, reached) for path in ledgers)
    if not number:
        return
    words = f"{counted(number, 'event')} {'waits' if number == 1 else 'wait'} for the heartbeat"
    if last is None:
        yield HealthProblem(INFO, LEARNING, None, None, f"{words}, and none ran on this machine. {_SCHEDULE}")
    elif now - moment_of(last.ended) > _OVERDUE:
        yield HealthProblem(WARNING, LEARNING, None, None, f"{words}, which ran last at {last.ended}. {_SCHEDULE}")
    else:
        yield HealthProblem(INFO, LEARNING, None, None, f"{words}; it ran last at {last.ended}.")
