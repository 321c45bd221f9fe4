"""Apply the calling agent's answer to a task: check it, learn from it, and ask once more about doubtful facts.

Dropped facts of an answer as candidates, so that reports show them with the reason.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any, NamedTuple

from clawmem.errors import NotFound, Refused
from clawmem.index.refresh import open_index
from clawmem.index.search.lookup import by_ids, entities, event_day
from clawmem.learning.attribution.sentences import said_by_user
from clawmem.learning.by_model.answers import (
    DroppedFact,
    ParsedAnswer,
    answer_in,
    checked_reading,
    parse_answer,
    usable_line,
)
from clawmem.learning.by_model.grounding import find_quote
from clawmem.learning.by_model.known import Surroundings
from clawmem.learning.by_model.task import (
    DoubtfulFact,
    EventPiece,
    KnownFact,
    ReadingTask,
    asked_again,
    event_of_label,
    follow_up_key,
    follow_up_text,
    is_readable,
    piece_label,
)
from clawmem.learning.by_model.telemetry import Extraction, reading_event
from clawmem.learning.learn import LearnResult, learn_from
from clawmem.learning.pending import pieces_to_read
from clawmem.learning.reconciling.round_state import REFUSED, LearningCandidate
from clawmem.learning.unread import after_cursor, waiting_count
from clawmem.llm.budget import Spent
from clawmem.model.forms import WrongValue, read_record
from clawmem.model.language.dates import day_of, stamp
from clawmem.model.language.text import counted, one_line
from clawmem.model.proposals.para import Proposition
from clawmem.model.records.access import Grant, ToldGrant, event_of_mark, grant_of_message, mark_from
from clawmem.model.records.caller import Caller
from clawmem.model.records.event import Event, event_of_line, parse_events
from clawmem.vault.state.reading_state import (
    MOST_APPLIED,
    EventProgress,
    GivenTask,
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
_ASK_AGAIN = "`clawmem learn pending` shows what waits."


class ApplyResult(NamedTuple):
    """What became of an answer.

    `learned` has the outcome of each proposition, `doubtful` the facts about which `follow_up`, a task, asks once more.
    `refused` says of each event that could not be answered why. `waiting` is the number of events that still wait,
    `facts` the number of facts of the answer that stand, and `again` says that the same answer was applied before.
    """

    learned: LearnResult
    doubtful: tuple[LearningCandidate, ...] = ()
    follow_up: str = ""
    refused: Mapping[str, str] = {}
    waiting: int = 0
    again: bool = False
    facts: int = 0


class _Named(NamedTuple):
    """The events that an answer names: those it answers, and why the others are refused."""

    events: list[Event]
    refused: dict[str, str]


class EventOutcome(NamedTuple):
    """What an answer means for one event: the piece was read to its end, or it waits with what was found."""

    piece: EventPiece
    finished: bool
    told: tuple[str, ...]
    asked: str = ""


class Reader(NamedTuple):
    """Who read a task: the name, the workflow that is stored with each fact, what it cost since the last answer (None:
    not known here), whether that is priced, how many facts may still be taken, and whether the answer may have left
    facts out without saying so."""

    name: str
    workflow: str
    spent: Spent | None = None
    priced: bool = False
    room: int | None = None
    cut: bool = False


def apply_answer(vault: Vault, caller: Caller, text: str) -> ApplyResult:
    """Learn from the calling agent's answer to a task of `pending`.

    The same answer may be applied again, for example after the process was killed: nothing happens twice. Raise
    InvalidInput if the text is no answer, NotFound if it names no known event, and Refused if all its events are read.
    """
    name = caller.agent or AGENT
    return apply_reading(vault, caller, answer_in(text), digest_of(text), Reader(name, f"learn/{name}"))


def digest_of(text: str) -> str:
    """Return what identifies an answer."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def apply_reading(vault: Vault, caller: Caller, record: Mapping[str, Any], digest: str, reader: Reader) -> ApplyResult:
    """Learn from an answer of a reader. See `apply_answer`."""
    state = read_reading_state(vault)
    answer = _named(checked_reading(record), state, reader)
    again = digest in state.applied
    named = _named_events(vault, answer, state)
    if again:  # what waits for another answer about its doubtful facts has had this one
        left = [event for event in named.events if state.events.get(event.id, _UNREAD).asked != digest]
        named = named._replace(events=left)
    if not named.events:
        return _nothing(vault, answer, named, state, again)
    pieces = pieces_to_read(vault, named.events, state)
    task = _task(vault, caller, answer, pieces)
    asked = [state.events.get(piece.event.id, _UNREAD).asked for piece in pieces]
    affirmed = frozenset(number for number, text in enumerate(asked) if text and text != digest)
    read = parse_answer(answer, task, vault.catalog, affirmed)
    doubtful = tuple(fact for fact in read.doubtful if _is_worth_asking(fact, pieces, affirmed))
    items = _outcomes(answer, read, pieces, doubtful, state, digest)
    if not again:
        state = state._replace(applied=(*state.applied, digest)[-MOST_APPLIED:])
        keep_reading_state(vault, state)  # before the commit, so that a killed run is known as the same answer
    # The facts of refused events are named with their events.
    known = {event_of_label(label) for label in named.refused}
    final = [fact for fact in read.rejected if fact not in doubtful and event_of_label(fact.detail) not in known]
    facts = sum(map(len, read.by_piece))
    dropped = Counter(fact.reason for fact in read.rejected if fact not in doubtful)
    spent = (reader.spent or Spent(calls=1))._replace(facts=facts)
    run = reading_event(
        caller, reader.name, spent, reader.priced, "done", len(named.events), dropped,
        None if reader.spent else digest,
    )  # fmt: skip
    meant = answer.get("meant", {})
    forget = {event_of_label(other): tuple(meant.get(other, ())) for other in answer.get("forget", ())}
    grants, refused_grants = _grants(answer, task)
    extraction = _extraction(vault, reader, read, items, state)._replace(
        forget=forget,
        lines=_lines(answer, task, caller),
        marks=tuple(_marks(answer, task, caller)),
        grants=tuple(grants),
        notices=tuple(refused_grants),
        rejected=tuple(refused_candidate(fact, task) for fact in final),
        telemetry=None if again else run,
        dropped=dropped,
    )
    days = frozenset(day_of(event.timestamp) for event in named.events)
    learned = learn_from(vault, caller, extraction, days=days)
    waiting = _forget_what_was_read(vault)
    made = {candidate.proposition.key: candidate.fact.id for candidate in learned.candidates if candidate.fact}
    follow_up = _follow_up(vault, caller, task, doubtful, made, digest) if doubtful else ""
    asked_about = tuple(refused_candidate(fact, task) for fact in doubtful)
    refused = {} if again else named.refused
    return ApplyResult(learned, asked_about, follow_up, refused, waiting, again, facts)


def _named(answer: dict[str, Any], state: ReadingState, reader: Reader) -> dict[str, Any]:
    """Return an answer with events and known facts named by their ids, in place of the numbers of its task.

    Every event of the task counts as read, except those that the answer names as unread. A reader with less room than
    facts has given only the first ones: the events of the others wait.
    """
    key = answer.pop("task", None)
    task = state.tasks.get(str(key)) if key is not None else None
    if key is not None and task is None:
        raise NotFound(f"The task {one_line(str(key))[:40]} is not known here.", _ASK_AGAIN)
    if task is not None:
        answer = {**_by_ids(answer, task), "known": task.known}
        several = len(task.shown) > 1
        left = {*answer.get("unread", ()), *(task.shown if reader.cut and several else ())}
        answer.setdefault("read", [text for text in task.shown if text not in left])
        if reader.cut and not several:
            answer["more"] = list(task.shown)  # it waits if something new was found in it
    facts = answer["facts"]
    if reader.room is not None and len(facts) > reader.room:
        more = [fact["event"] for fact in facts[reader.room :] if isinstance(fact, Mapping) and "event" in fact]
        answer |= {"facts": facts[: reader.room], "more": [*answer.get("more", ()), *map(str, more)]}
    answer.pop("unread", None)
    return answer


def _by_ids(answer: Mapping[str, Any], task: GivenTask) -> dict[str, Any]:
    labels = {str(number): label for number, label in enumerate(task.shown, 1)}
    known = {f"k{number}": fact_id for number, fact_id in enumerate(task.known, 1)}
    records = [json.loads(row) for row in task.given]
    facts = [_with_given(_fact_by_ids(fact, labels, known), records) for fact in answer["facts"]]
    marks = {
        key: [labels.get(other.removeprefix("e"), other) for other in answer[key]]
        for key in ("more", "read", "unread", "forget")
        if key in answer
    }
    meant = {
        labels.get(key.removeprefix("e"), key): [
            known.get(name) or event_of_label(labels.get(name.removeprefix("e"), "")) or name
            for name in map(str.strip, ids)
        ]
        for key, ids in answer.get("meant", {}).items()
    }
    rest = {
        name: {labels.get(key.removeprefix("e"), key): value for key, value in answer.get(name, {}).items()}
        for name in ("lines", "private", "grants")
    }
    return {**answer, **marks, "facts": facts, "meant": meant, **rest}


def _fact_by_ids(fact: Any, labels: Mapping[str, str], known: Mapping[str, str]) -> Any:
    if not isinstance(fact, Mapping):
        return fact
    found = dict(fact)
    if isinstance(found.get("event"), str):
        found["event"] = labels.get(found["event"].strip().removeprefix("e"), found["event"])
    if isinstance(found.get("changes"), list):
        found["changes"] = [
            {**row, "id": known.get(str(row.get("id", "")).strip(), row.get("id"))} if isinstance(row, Mapping) else row
            for row in found["changes"]
        ]
    return found


def _with_given(fact: Any, given: Sequence[Mapping[str, Any]]) -> Any:
    """Return a fact that was asked about once more, with what it was given with at first and says nothing of now."""
    if not isinstance(fact, Mapping):
        return fact
    rows = [row for row in given if row.get("event") == fact.get("event")]
    rows = [row for row in rows if row.get("quote") == fact.get("quote")] or rows
    return {**rows[0], **fact} if len(rows) == 1 else fact


def _is_worth_asking(fact: DroppedFact, pieces: Sequence[EventPiece], affirmed: Collection[int]) -> bool:
    """Return whether to ask about a dropped fact: once, and not about a text with orders."""
    return fact.number is not None and fact.number not in affirmed and not pieces[fact.number].orders


def _lines(answer: Mapping[str, Any], task: ReadingTask, caller: Caller) -> tuple[Event, ...]:
    """Return the lines of an answer that tell messages alone, as events of the days of the messages."""
    texts = answer.get("lines", {})
    found = []
    for number, piece in enumerate(task.shown):
        value = texts.get(piece_label(piece), "") if piece_label(piece) not in answer.get("forget", ()) else ""
        line = usable_line(value, task, number)
        if line is not None:
            found.append(event_of_line(piece.event, line, caller.agent))
    return tuple(found)


def _marks(answer: Mapping[str, Any], task: ReadingTask, caller: Caller) -> Iterator[Event]:
    """Yield the marks of an answer for messages that are not for everybody, as events of the days of the messages."""
    records = answer.get("private", {}) if task.policy is not None else {}
    for piece in task.shown:
        mark = mark_from(records.get(piece_label(piece), {}))
        if mark.restricts:
            places = ((part, find_quote(part.words, piece.text)) for part in mark.parts)
            parts = tuple(part._replace(words=piece.text[slice(*place)]) for part, place in places if place)
            yield event_of_mark(piece.event, mark._replace(parts=parts), caller.agent, by_reader=True)


def _grants(answer: Mapping[str, Any], task: ReadingTask) -> tuple[list[Grant], list[str]]:
    """Return the grants of messages, and what a person can do about those not permitted or unclear."""
    policy, found, notices = task.policy, [], []
    records = answer.get("grants", {}) if policy is not None else {}
    pairs = ((piece.event, record) for piece in task.shown for record in records.get(piece_label(piece), ()))
    for event, record in pairs:
        try:
            grant = policy and grant_of_message(policy, event, read_record(ToldGrant, record))
        except WrongValue:
            grant = None
        found += [grant] if grant else []
        notices += [] if grant else [f"What {event.id} grants needs a person: `clawmem access grant`."]
    return found, notices


def _forget_what_was_read(vault: Vault) -> int:
    """Remove the progress of events that the cursor has passed. Return the number of events that still wait."""
    state = read_reading_state(vault)
    left = {event.id for event in after_cursor(vault)}
    keep_reading_state(vault, state._replace(events={key: event for key, event in state.events.items() if key in left}))
    return waiting_count(vault)


def _labels(answer: Mapping[str, Any]) -> list[str]:
    """Return the labels of events that an answer names, each once."""
    items = [fact.get("event") for fact in answer["facts"] if isinstance(fact, Mapping)]
    marked = (
        other for key in ("read", "more", "forget", "lines", "private", "grants") for other in answer.get(key, ())
    )
    labels = [text for text in (*items, *marked) if isinstance(text, str)]
    return list(dict.fromkeys(label.strip() for label in labels))


def _named_events(vault: Vault, answer: Mapping[str, Any], state: ReadingState) -> _Named:
    wanted = {event_of_label(label): label for label in _labels(answer)}
    user = vault.settings.words("user.name")
    waits = (event for event in after_cursor(vault, state) if event.id in wanted)
    unread = {wait.id: said_by_user(wait, user) for wait in waits if is_readable(wait)}
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
    order = {text: place for place, text in enumerate(unread)}
    return _Named(sorted(found.values(), key=lambda event: order.get(event.id, -1)), refused)


def _event(vault: Vault, day: str, event_id: str) -> Event:
    path = f"ledger/{day}.jsonl"
    return next(event for event in parse_events(vault.read(path) or b"", path) if event.id == event_id)


def _nothing(vault: Vault, answer: Mapping[str, Any], named: _Named, state: ReadingState, again: bool) -> ApplyResult:
    """Return the result of an answer that names no event that waits. Raise an error if that is a mistake."""
    waiting = waiting_count(vault)
    if again or (not answer["facts"] and not named.refused):
        return ApplyResult(LearnResult(0, (), (), None, AGENT), refused={}, waiting=waiting, again=again)
    names = ", ".join(one_line(text) for text in list(named.refused)[:_SHOWN])
    hint = "`clawmem learn pending` shows the events that wait."
    if named.refused and all(why == _READ for why in named.refused.values()):
        raise Refused(f"The events of this answer were read before: {names}.", hint)
    raise NotFound(f"The answer names no event that waits: {names or 'none is named'}.", hint)


def _task(vault: Vault, caller: Caller, answer: Mapping[str, Any], pieces: Sequence[EventPiece]) -> ReadingTask:
    """Return the task that an answer belongs to, with each fact and entity that the answer names by id."""
    surroundings = Surroundings(vault, caller.agent)
    task = surroundings.task(pieces, [piece_label(piece) for piece in pieces])
    task = task._replace(before=surroundings.talk_before(pieces), after=surroundings.turns_after(pieces))
    facts = [fact for fact in answer["facts"] if isinstance(fact, Mapping)]
    rows = [row for fact in facts for row in (fact.get("changes") or ()) if isinstance(row, Mapping)]
    ids = {str(row.get("id", "")).strip() for row in rows} | set(answer.get("known", ()))
    ids -= {fact.target for fact in task.known}
    about = [fact.get("about") for fact in facts]
    names = {record.get("id") if isinstance(record, Mapping) else record for record in about} - {
        entity.name for entity in task.entities
    }
    index = open_index(vault)
    try:
        named = [
            KnownFact(key, key, placed.fact.fact, placed.fact.subject) for key, placed in by_ids(index, ids).items()
        ]
        others = [entity for entity in entities(index) if entity.name in names] if names - {None} else []
    finally:
        index.close()
    # What a task calls k1 was named by its id already: here the same label may mean another fact.
    own = (fact._replace(label=fact.target) for fact in task.known)
    return task._replace(known=(*own, *named), entities=(*task.entities, *others))


def _outcomes(
    answer: Mapping[str, Any],
    read: ParsedAnswer,
    pieces: Sequence[EventPiece],
    doubtful: Sequence[DroppedFact],
    state: ReadingState,
    digest: str,
) -> list[EventOutcome]:
    """Return what an answer means for each piece.

    Pieces with `more` facts wait if something new was found in them, so that nobody is asked for ever; so do those that
    are not listed as read, and those of doubtful facts, about which the reader is asked once more.
    """
    listed = answer.get("read")
    asked = {fact.number for fact in doubtful if fact.number is not None}
    rows = []
    for number, piece in enumerate(pieces):
        before = state.events.get(piece.event.id, _UNREAD).told
        found = [proposition.statement for proposition in read.by_piece[number]]
        new = tuple(text for text in found if text not in before)
        unread = listed is not None and piece_label(piece) not in listed
        left = number in read.more and (bool(new) or digest in state.applied)
        waits = unread or left or number in asked
        rows.append(EventOutcome(piece, not waits, (*before, *new) if waits else (), digest if number in asked else ""))
    return rows


def _extraction(
    vault: Vault, reader: Reader, read: ParsedAnswer, items: Sequence[EventOutcome], state: ReadingState
) -> Extraction:
    found: dict[str, tuple[Proposition, ...]] = {}
    progress = dict(state.events)
    unfinished = set()
    for outcome, propositions in zip(items, read.by_piece, strict=True):
        key, piece = outcome.piece.event.id, outcome.piece
        found[key] = propositions
        before = progress.get(key, _UNREAD)
        whole = outcome.finished and piece.last
        if not whole:
            unfinished.add(key)
        offset = piece.start + len(piece.text) if outcome.finished else piece.start
        progress[key] = before._replace(
            offset=offset, done=whole, told=() if outcome.finished else outcome.told, asked=outcome.asked, failed=0
        )
    passed = frozenset(key for key, each in progress.items() if each.done)
    silent = frozenset(_silent(vault, [outcome.piece.event for outcome in items]))
    aside = tuple(text for text in state.set_aside if text not in found or text in unfinished)
    return Extraction(
        reader.name, found, unfinished=frozenset(unfinished),
        progress=state._replace(events=progress, set_aside=aside), workflow=reader.workflow,
        passed=passed | silent | frozenset(state.set_aside),
        again=frozenset(text for text in state.set_aside if text in found),
    )  # fmt: skip


def _silent(vault: Vault, events: Iterable[Event]) -> Iterable[str]:
    """Yield the events of the same days that no model is shown."""
    for day in {day_of(event.timestamp) for event in events}:
        path = f"ledger/{day}.jsonl"
        yield from (event.id for event in parse_events(vault.read(path) or b"", path) if not is_readable(event))


def _follow_up(
    vault: Vault,
    caller: Caller,
    task: ReadingTask,
    doubtful: Sequence[DroppedFact],
    made: Mapping[str, str],
    digest: str,
) -> str:
    """Return the task about doubtful facts, and keep what it calls 1, 2, ... `made` are the ids of the facts that the
    answer made, by the keys of their propositions."""
    asked = [fact for fact in doubtful if fact.number is not None]
    facts = [_with_ids(fact.given, made) for fact in asked]
    rows = [DoubtfulFact(fact.number or 0, _as_written(record), fact.says)
            for fact, record in zip(asked, facts, strict=True)]  # fmt: skip
    key = follow_up_key(digest)
    shown = tuple(task.labels[number] for number in asked_again(rows))
    state = read_reading_state(vault)
    text = follow_up_text(task, key, rows, stamp(caller.now)[:10])
    known, records = tuple(fact.target for fact in task.known), tuple(map(json.dumps, facts))
    keep_reading_state(vault, state.with_task(key, GivenTask(shown, known, text, records)))
    return text


def _with_ids(record: Any, made: Mapping[str, str]) -> Any:
    """Return a fact as given, with what it changes by id."""
    if not isinstance(record, Mapping) or not isinstance(record.get("changes"), list):
        return record
    return {**record, "changes": [{**each, "id": made.get(each["id"], each["id"])} for each in record["changes"]]}


def _as_written(record: Any) -> Any:
    """Return a fact as given, with what it changes as the task writes it."""
    if not isinstance(record, Mapping) or not isinstance(record.get("changes"), list):
        return record
    return {**record, "changes": {change["id"]: change["how"] for change in record["changes"]}}


def refused_notice(refused: Mapping[str, str]) -> str:
    """Return a sentence about the events of an answer that were refused."""
    shown = "; ".join(f"{label}: {why}" for label, why in list(refused.items())[:_SHOWN])
    return f"{counted(len(refused), 'event')} of the answer could not be answered: {shown}."


GATE = "grounding"


def refused_candidate(fact: DroppedFact, task: ReadingTask) -> LearningCandidate:
    """Return a dropped fact as a refused candidate with its reason."""
    event = task.shown[fact.number].event.id if fact.number is not None else ""
    proposition = Proposition(fact.statement or "(no statement)", event, (0, 0), fact.quote)
    return LearningCandidate(proposition, REFUSED, GATE, f"{fact.says[:1].upper()}{fact.says[1:]}.")
