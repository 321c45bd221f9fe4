"""The ledger: every event readable, once, on its day; and the evidence that facts quote from it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from typing import NamedTuple

from clawmem.errors import InvalidInput
from clawmem.memory.checks.facts import PlacedFact
from clawmem.memory.checks.problem import ERROR, INFO, WARNING, Problem
from clawmem.model.bounds import LEDGER_LINE_BYTES
from clawmem.model.dates import day_of, moment_of
from clawmem.model.event import ROLES, Event, event_from_record
from clawmem.model.strict_json import read_json


class ReadLedger(NamedTuple):
    """One day's events with their lines, what is wrong with the file, and the lines no event came of."""

    events: tuple[tuple[int, Event], ...]
    problems: tuple[Problem, ...]
    unread: str = ""


def read_ledger(path: str, data: bytes) -> ReadLedger:
    """Read one ledger file line by line, however broken."""
    events, problems, unread = [], list(_name_problems(path)), []
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            events.append((number, _event(line)))
        except (ValueError, InvalidInput, TypeError) as problem:
            problems.append(Problem(ERROR, "ledger", path, number, f"The event cannot be read: {problem}."))
            unread.append(line.decode(errors="replace"))
    day = path.removeprefix("ledger/").removesuffix(".jsonl")
    for number, event in events:
        problems += _event_problems(path, number, event, day)
    problems += _order_problems(path, events)
    if data and not data.endswith(b"\n"):
        problems.append(Problem(WARNING, "ledger", path, data.count(b"\n") + 1, "The last line has no end of line."))
    return ReadLedger(tuple(events), tuple(problems), "\n".join(unread))


def _event(line: bytes) -> Event:
    record = read_json(line, LEDGER_LINE_BYTES)
    if not isinstance(record, dict):
        raise InvalidInput("it is not a JSON object")
    return event_from_record(record)


def _name_problems(path: str) -> Iterator[Problem]:
    try:
        date.fromisoformat(path.removeprefix("ledger/").removesuffix(".jsonl"))
    except ValueError:
        yield Problem(ERROR, "ledger", path, None, "A ledger file is named after its day, such as 2026-11-21.jsonl.")


def _event_problems(path: str, number: int, event: Event, day: str) -> Iterator[Problem]:
    try:
        moment_of(event.timestamp)
    except ValueError:
        message = f"The event {event.id} has '{event.timestamp[:40]}' as its time, which is none."
        yield Problem(ERROR, "event-time", path, number, message)
    else:
        if day_of(event.timestamp) != day:
            message = f"The event {event.id} is of {day_of(event.timestamp)} but stands in the ledger of {day}."
            yield Problem(ERROR, "event-day", path, number, message)
    if event.role not in ROLES:
        message = f"The event {event.id} has the role '{event.role}', which is none of {', '.join(ROLES)}."
        yield Problem(WARNING, "event-role", path, number, message)


def _order_problems(path: str, events: Iterable[tuple[int, Event]]) -> Iterator[Problem]:
    latest = ""
    for number, event in events:
        if event.timestamp < latest:
            message = f"The event {event.id} stands after later ones; it was taken in late."
            yield Problem(INFO, "event-order", path, number, message)
            return
        latest = event.timestamp


def evidence_problems(facts: Iterable[PlacedFact], texts: Mapping[str, str], unread: str) -> Iterator[Problem]:
    """Facts whose evidence is not, word for word, what the event they cite says.

    `texts` are the cited events' texts by id; an event in `unread`, the lines that do not parse, is not missed.
    """
    for placed in facts:
        message = _evidence_problem(placed, texts, unread)
        if message:
            yield message


def _evidence_problem(placed: PlacedFact, texts: Mapping[str, str], unread: str) -> Problem | None:
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
        message = f"{fact.id} quotes {fact.source_event} from {start} to {end}, but other words stand there."
        return placed.problem(ERROR, "evidence", message)
    return None
