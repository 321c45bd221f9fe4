"""Apply the calling agent's answer to a task: check it, learn from it, and ask once more about doubtful facts."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

from clawmem.errors import NotFound, Refused
from clawmem.index.refresh.refresh import open_index
from clawmem.index.search.lookup import by_ids, entities, event_day
from clawmem.learning.attribution.speaker import said_by_user
from clawmem.learning.by_model.answers import DroppedFact, ParsedAnswer, answer_in, parse_answer
from clawmem.learning.by_model.by_caller import EventOutcome, event_of_label, follow_up_text, outcomes, piece_label
from clawmem.learning.by_model.extraction import Extraction
from clawmem.learning.by_model.known import Surroundings
from clawmem.learning.by_model.pieces import EventPiece, is_readable
from clawmem.learning.by_model.rejections import refused_candidate
from clawmem.learning.by_model.task import KnownFact, ReadingTask
from clawmem.learning.by_model.telemetry import applying_event
from clawmem.learning.learn import LearnResult, learn_from
from clawmem.learning.pending import after_cursor, pieces_to_read, waiting_count
from clawmem.learning.reconciling.candidate import LearningCandidate
from clawmem.model.language.dates import day_of, stamp
from clawmem.model.language.text import counted, one_line
from clawmem.model.proposals.proposition import Proposition
from clawmem.model.records.caller import Caller
from clawmem.model.records.event import Event, parse_events
from clawmem.vault.state.reading_state import (
    MOST_APPLIED,
    EventProgress,
    ReadingState,
    keep_reading_state,
    read_reading_state,
)
from clawmem.vault.vault import Vault

AGENT = "agent"
_UNREAD = EventProgress()
_SHOWN = 5
_LONGEST_LABEL = 60
_READ = "it was read before"


class ApplyResult(NamedTuple):
    """What became of an answer.

    `learned` has the outcome of each proposition, `doubtful` the facts about which `follow_up`, a task, asks once more.
    `refused` says of each event that could not be answered why. `waiting` is the number of events that still wait, and
    `again` says that the same answer was applied before.
    """

    learned: LearnResult
    doubtful: tuple[LearningCandidate, ...] = ()
    follow_up: str = ""
    refused: Mapping[str, str] = {}
    waiting: int = 0
    again: bool = False


class _Named(NamedTuple):
    """The events that an answer names: those it answers, and why the others are refused."""

    events: list[Event]
    refused: dict[str, str]


def apply_answer(vault: Vault, caller: Caller, text: str) -> ApplyResult:
    """Learn from an answer to a task of `pending`.

    The same answer may be applied again, for example after the process was killed: nothing happens twice. Raise
    InvalidInput if the text is no answer, NotFound if it names no known event, and Refused if all its events are read.
    """
    answer = answer_in(text)
    digest = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
    state = read_reading_state(vault)
    again = digest in state.applied
    named = _named_events(vault, answer, state)
    if not named.events:
        return _nothing(vault, answer, named, state, again)
    pieces = pieces_to_read(vault, named.events, state)
    task = _task(vault, caller, answer, pieces)
    asked = [state.events.get(one.event.id, _UNREAD).asked for one in pieces]
    affirmed = frozenset(number for number, one in enumerate(asked) if one and one != digest)
    read = parse_answer(answer, task, vault.catalog, affirmed)
    doubtful = tuple(one for one in read.doubtful if _is_worth_asking(one, pieces, affirmed, named.refused))
    done = _outcomes(answer, read, pieces, doubtful, state, digest)
    if not again:
        state = state._replace(applied=(*state.applied, digest)[-MOST_APPLIED:])
        keep_reading_state(vault, state)  # before the commit, so that a killed run is known as the same answer
    # The facts of refused events are named with their events.
    known = {event_of_label(label) for label in named.refused}
    final = [one for one in read.rejected if one not in doubtful and event_of_label(one.detail) not in known]
    facts = sum(map(len, read.by_piece))
    run = applying_event(caller, caller.agent or AGENT, digest, len(named.events), facts, read.dropped, read.unmapped)
    extraction = _extraction(vault, caller, read, done, state)._replace(
        rejected=tuple(refused_candidate(one, task) for one in final), telemetry=None if again else run
    )
    days = frozenset(day_of(one.timestamp) for one in named.events)
    learned = learn_from(vault, caller, extraction, days=days)
    waiting = _forget_what_was_read(vault)
    follow_up = _follow_up(vault, caller, task, doubtful) if doubtful else ""
    asked_about = tuple(refused_candidate(one, task) for one in doubtful)
    refused = {} if again else named.refused
    return ApplyResult(learned, asked_about, follow_up, refused, waiting, again)


def _is_worth_asking(
    one: DroppedFact, pieces: Sequence[EventPiece], affirmed: Collection[int], refused: Mapping[str, str]
) -> bool:
    """Return whether to ask about a dropped fact: once, and not about a text with orders or an event that was read."""
    if one.number is None:
        return not affirmed and refused.get(one.detail) != _READ
    return one.number not in affirmed and not pieces[one.number].orders


def _forget_what_was_read(vault: Vault) -> int:
    """Remove the progress of events that the cursor has passed. Return the number of events that still wait."""
    state = read_reading_state(vault)
    left = {one.id for one in after_cursor(vault)}
    keep_reading_state(vault, state._replace(events={key: one for key, one in state.events.items() if key in left}))
    return waiting_count(vault)


def _labels(answer: Mapping[str, Any]) -> list[str]:
    """Return the labels of events that an answer names, each once."""
    given = [one.get("event") for one in answer["facts"] if isinstance(one, Mapping)]
    labels = [one for one in (*given, *answer.get("read", ()), *answer.get("more", ())) if isinstance(one, str)]
    return list(dict.fromkeys(label.strip() for label in labels))


def _named_events(vault: Vault, answer: Mapping[str, Any], state: ReadingState) -> _Named:
    wanted = {event_of_label(label): label for label in _labels(answer)}
    user = vault.settings.words("user.name")
    waits = (one for one in after_cursor(vault, state) if one.id in wanted)
    unread = {one.id: said_by_user(one, user) for one in waits if is_readable(one)}
    found: dict[str, Event] = {}
    refused: dict[str, str] = {}
    index = open_index(vault)
    try:
        for event_id, label in wanted.items():
            day = event_day(index, event_id)
            if event_id in unread:
                found[event_id] = unread[event_id]
            elif day and event_id in state.set_aside:
                found[event_id] = said_by_user(_event(vault, day, event_id), user)
            else:
                refused[label[:_LONGEST_LABEL]] = _READ if day else "it is not in the ledger"
    finally:
        index.close()
    order = {one: place for place, one in enumerate(unread)}
    return _Named(sorted(found.values(), key=lambda one: order.get(one.id, -1)), refused)


def _event(vault: Vault, day: str, event_id: str) -> Event:
    path = f"ledger/{day}.jsonl"
    return next(one for one in parse_events(vault.read(path) or b"", path) if one.id == event_id)


def _nothing(vault: Vault, answer: Mapping[str, Any], named: _Named, state: ReadingState, again: bool) -> ApplyResult:
    """Return the result of an answer that names no event that waits. Raise an error if that is a mistake."""
    waiting = waiting_count(vault)
    if again or (not answer["facts"] and not named.refused):
        return ApplyResult(LearnResult(0, (), (), None, AGENT), refused={}, waiting=waiting, again=again)
    names = ", ".join(one_line(one) for one in list(named.refused)[:_SHOWN])
    hint = "`clawmem learn pending` shows the events that wait."
    if named.refused and all(why == _READ for why in named.refused.values()):
        raise Refused(f"The events of this answer were read before: {names}.", hint)
    raise NotFound(f"The answer names no event that waits: {names or 'none is named'}.", hint)


def _task(vault: Vault, caller: Caller, answer: Mapping[str, Any], pieces: Sequence[EventPiece]) -> ReadingTask:
    """Return the task that an answer belongs to, with each fact and entity that the answer names by id."""
    task = Surroundings(vault, caller.agent).task(pieces, [piece_label(one) for one in pieces])
    facts = [one for one in answer["facts"] if isinstance(one, Mapping)]
    rows = [row for one in facts for row in (one.get("changes") or ()) if isinstance(row, Mapping)]
    ids = {str(row.get("id", "")).strip() for row in rows} - {one.target for one in task.known}
    about = [one.get("about") for one in facts]
    names = {one.get("id") if isinstance(one, Mapping) else one for one in about} - {one.name for one in task.entities}
    index = open_index(vault)
    try:
        named = [KnownFact(key, key, one.fact.fact, one.fact.subject) for key, one in by_ids(index, ids).items()]
        others = [one for one in entities(index) if one.name in names] if names - {None} else []
    finally:
        index.close()
    return task._replace(known=(*task.known, *named), entities=(*task.entities, *others))


def _outcomes(
    answer: Mapping[str, Any],
    read: ParsedAnswer,
    pieces: Sequence[EventPiece],
    doubtful: Sequence[DroppedFact],
    state: ReadingState,
    digest: str,
) -> list[EventOutcome]:
    listed = answer.get("read")
    labels = {label.strip() for label in listed or ()}
    unlisted = [n for n, one in enumerate(pieces) if listed is not None and piece_label(one) not in labels]
    found = [[one.statement for one in each] for each in read.by_piece]
    told = {key: one.told for key, one in state.events.items()}
    numbers = [one.number for one in doubtful if one.number is not None]
    if len(numbers) < len(doubtful):
        numbers = list(range(len(pieces)))  # a fact of an event that does not exist may be of any of them
    unread = [*unlisted, *(read.more if digest in state.applied else ())]
    return outcomes(pieces, found, read.more, unread, numbers, told, digest)


def _extraction(
    vault: Vault, caller: Caller, read: ParsedAnswer, done: Sequence[EventOutcome], state: ReadingState
) -> Extraction:
    found: dict[str, tuple[Proposition, ...]] = {}
    progress = dict(state.events)
    unfinished = set()
    for one, propositions in zip(done, read.by_piece, strict=True):
        key, piece = one.piece.event.id, one.piece
        found[key] = propositions
        before = progress.get(key, _UNREAD)
        whole = one.finished and piece.last
        if not whole:
            unfinished.add(key)
        offset = piece.start + len(piece.text) if one.finished else piece.start
        progress[key] = before._replace(
            offset=offset, done=whole, told=() if one.finished else one.told, asked=one.asked, failed=0
        )
    passed = frozenset(key for key, one in progress.items() if one.done)
    silent = frozenset(_silent(vault, [one.piece.event for one in done]))
    aside = tuple(one for one in state.set_aside if one not in found or one in unfinished)
    name = caller.agent or AGENT
    return Extraction(
        name, False, found, unfinished=frozenset(unfinished), progress=state._replace(events=progress, set_aside=aside),
        by_caller=True, passed=passed | silent | frozenset(state.set_aside), workflow=f"learn/{name}",
        again=frozenset(one for one in state.set_aside if one in found),
    )  # fmt: skip


def _silent(vault: Vault, events: Iterable[Event]) -> Iterable[str]:
    """Yield the events of the same days that no model is shown."""
    for day in {day_of(one.timestamp) for one in events}:
        path = f"ledger/{day}.jsonl"
        yield from (one.id for one in parse_events(vault.read(path) or b"", path) if not is_readable(one))


def _follow_up(vault: Vault, caller: Caller, task: ReadingTask, doubtful: Sequence[DroppedFact]) -> str:
    """Return the task about doubtful facts: the same data, of their events only."""
    numbers = sorted({one.number for one in doubtful if one.number is not None})
    if any(one.number is None for one in doubtful):
        numbers = list(range(len(task.shown)))
    places = {old: new for new, old in enumerate(numbers)}
    small = task._replace(
        shown=tuple(task.shown[one] for one in numbers), labels=tuple(task.labels[one] for one in numbers)
    )
    moved = [one._replace(number=None if one.number is None else places[one.number]) for one in doubtful]
    return follow_up_text(small, moved, vault.catalog, stamp(caller.now)[:10])


def refused_notice(refused: Mapping[str, str]) -> str:
    """Return a sentence about the events of an answer that were refused."""
    shown = "; ".join(f"{label}: {why}" for label, why in list(refused.items())[:_SHOWN])
    return f"{counted(len(refused), 'event')} of the answer could not be answered: {shown}."
