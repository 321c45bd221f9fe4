"""The task for the calling agent: what it would have to read so that this memory learns from the newest events."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import timedelta
from itertools import islice
from typing import NamedTuple

from clawmem.errors import InvalidInput
from clawmem.index.search.lookup import facts_about, facts_from_event, facts_of_days
from clawmem.index.tables.background import exact_counter
from clawmem.learning.attribution.sentences import said_by_user
from clawmem.learning.by_model.known import Surroundings
from clawmem.learning.by_model.task import (
    EventPiece,
    ReadingTask,
    follow_up_key,
    is_readable,
    piece_label,
    split_events,
    task_text,
)
from clawmem.learning.reconciling.entities import conversation_of, people_of, session_of
from clawmem.learning.reconciling.gate import judge, word_beginnings
from clawmem.learning.unread import UNREAD, Readers, UnreadDay, after_cursor, ledger_paths, unread_days
from clawmem.memory.proposals import proposal_trailers, proposal_writes, read_proposals
from clawmem.memory.scope import WriteScope
from clawmem.memory.writing import writing
from clawmem.model.facts.fact import UNSET_ID
from clawmem.model.harness import harness_of
from clawmem.model.language.dates import day_of, moment_of, stamp
from clawmem.model.language.text import counted, normal
from clawmem.model.proposals.para import Proposition, learned_fact
from clawmem.model.proposals.proposal import ADD, CANDIDATES, Proposal, is_candidate, new_proposal_id
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change, subject_line, trailers
from clawmem.model.records.event import Event, parse_events, taken_back, takes_back
from clawmem.model.safety.recalled_text import has_words, mask_recalled, parts_of
from clawmem.vault.state.reading_state import GivenTask, ReadingState, keep_reading_state, read_reading_state
from clawmem.vault.vault import Vault

DEFAULT_TOKENS = 12_000
MOST_EVENTS = 60
_SPARE = 40  # tokens of an event's row beside its text


class PendingTask(NamedTuple):
    """A task for a model or the calling agent.

    `text` is empty if nothing waits. `events` are the labels of what it shows, `known` is the number of known facts in
    it, `tokens` its size, and `waiting` the number of events that wait, with those of the task. `key` is its id.
    """

    text: str = ""
    events: tuple[str, ...] = ()
    known: int = 0
    tokens: int = 0
    waiting: int = 0
    key: str = ""
    reading: ReadingTask | None = None


def pending(
    vault: Vault,
    caller: Caller,
    limit_tokens: int = DEFAULT_TOKENS,
    session: str | None = None,
    set_aside: bool = False,
    most_events: int = MOST_EVENTS,
    most_facts: int = 0,
    skip: Collection[str] = (),
    reads: Readers = lambda harness: True,
    keep: bool = True,
    by_caller: bool = False,
) -> PendingTask:
    """Return the next task of at most `limit_tokens`: the oldest events that no model has read, or those of a session.

    The events of one conversation stand together, in order. With `set_aside`, it is about the events on which a model
    failed. Left out are events whose ids `skip` has, and those whose harness `reads` refuses; those that failed alone
    come last, each alone. For the calling agent (`by_caller`), doubtful facts that it was asked about come first.
    Unless `keep` is false, what the task calls 1, 2, ... and k1, k2, ... is kept in the machine's own state; nothing
    else is written.
    Raise InvalidInput if not one event fits into the limit.
    """
    state = read_reading_state(vault)
    user = vault.settings.words("user.name")
    failing = {key for key, event in state.events.items() if event.failed}
    events, failed, more = list[Event](), list[Event](), 0
    days = [UnreadDay(_of_set_aside(vault, state))] if set_aside else unread_days(vault, state, skip)
    for day in days:
        # Whether a text may be shown is slow to say, and nobody needs it of what comes later.
        if day.by_harness is not None and session is None and len(events) == most_events:
            more += sum(number for harness, number in day.by_harness.items() if reads(harness))
            continue
        for event in day.events:
            if session not in (None, event.session) or event.id in skip or not reads(harness_of(event)):
                continue
            if event.id in failing:
                failed += [said_by_user(event, user)] if is_readable(event) else []
            elif len(events) < most_events:
                events += [said_by_user(event, user)] if is_readable(event) else []
            else:
                more += has_words(event)
    if not events and not failed:
        return PendingTask()
    count = exact_counter()
    for key, open_task in _unanswered(state, events) if by_caller else ():
        if (size := count(open_task.text)) <= limit_tokens:
            waiting = len(events) + more + len(failed)
            return PendingTask(open_task.text, open_task.shown, 0, size, waiting, key)
    pieces = pieces_to_read(vault, by_conversation(events) if events else failed[:1], state)
    surroundings = Surroundings(vault, caller.agent)
    today = stamp(caller.now)[:10]
    task, text = _fitting(surroundings, pieces, state, vault, today, limit_tokens, most_facts, count)
    value = GivenTask(task.labels, tuple(fact.target for fact in task.known))
    if keep:
        keep_reading_state(vault, state.with_task(task.key, value))
    return PendingTask(
        text, task.labels, len(task.known), count(text), len(events) + more + len(failed), task.key, task
    )


def _unanswered(state: ReadingState, events: Iterable[Event]) -> Iterator[tuple[str, GivenTask]]:
    """Yield the tasks that ask once more about doubtful facts of events that wait, with their ids."""
    for event in events:
        asked = state.events.get(event.id, UNREAD).asked
        key = follow_up_key(asked) if asked else ""
        if key in state.tasks and state.tasks[key].text:
            yield key, state.tasks[key]


def by_conversation(events: Iterable[Event]) -> list[Event]:
    """Return events with those of one conversation together, the conversation that began first before the others."""
    found: dict[tuple[str, str | None], list[Event]] = {}
    for event in events:
        found.setdefault((conversation_of(event), event.session), []).append(event)
    return [event for each in found.values() for event in each]


def pieces_to_read(vault: Vault, events: Sequence[Event], state: ReadingState) -> list[EventPiece]:
    """Return the next piece of each event, in order: the whole event unless it is long."""
    surroundings = Surroundings(vault)
    record = {key: event.offset for key, event in state.events.items()}
    days = {day: people_of(surroundings.events_of(day)) for day in {event.timestamp[:10] for event in events}}
    found = ((event, days[event.timestamp[:10]].get(session_of(event), ())) for event in events)
    return [next(split_events([event], speakers, record)) for event, speakers in found]


def _of_set_aside(vault: Vault, state: ReadingState) -> Iterator[Event]:
    for path in ledger_paths(vault, None) if state.set_aside else ():
        yield from (event for event in parse_events(vault.read(path) or b"", path) if event.id in state.set_aside)


def _fitting(
    surroundings: Surroundings,
    pieces: Sequence[EventPiece],
    state: ReadingState,
    vault: Vault,
    today: str,
    limit: int,
    most_facts: int,
    count: Callable[[str], int],
) -> tuple[ReadingTask, str]:
    """Return the task with as many of the first pieces as fit, and its text."""
    number = _first_guess(pieces, limit, count)
    while True:
        shown = pieces[:number]
        items = [words for piece in shown for words in state.events.get(piece.event.id, UNREAD).told]
        task = surroundings.task(shown, [piece_label(piece) for piece in shown], items, most_facts)
        # A provider that refuses an event would refuse every task that shows it.
        task = task._replace(
            before=tuple(event for event in task.before if not state.events.get(event.id, UNREAD).failed)
        )
        text = task_text(task, vault.catalog, today)
        size, most = count(text), _most_tokens(sum(count(piece.text) for piece in shown), len(task.known))
        while task.before and size > most:
            task = task._replace(before=task.before[1:])
            text = task_text(task, vault.catalog, today)
            size = count(text)
        if size <= limit:
            return task, text
        if number == 1:
            raise InvalidInput(
                f"The task for one event has {counted(size, 'token')}; the limit is {limit:,}.",
                f"Give at least `--limit-tokens {size}`.",
            )
        number = max(1, min(number - 1, number * limit // size))


def _most_tokens(read: int, known: int) -> int:
    """Return how many tokens a task should have at most that shows so many tokens of messages, and known facts."""
    return read * 3 // 2 + 700 + 25 * known


def _first_guess(pieces: Sequence[EventPiece], limit: int, count: Callable[[str], int]) -> int:
    """Return how many pieces may fit, by their texts alone."""
    total = 0
    for number, piece in enumerate(pieces[:MOST_EVENTS]):
        total += count(piece.text) + _SPARE
        if number and total > limit:
            return number
    return min(len(pieces), MOST_EVENTS)


# What no reader has read: the strongest sentences become candidates, which a person accepts, edits or drops.
#
# A candidate is a proposal of the kind `fact`. It is never a fact by itself; a reader's answer about its message takes
# its place.

_GRACE = timedelta(hours=12)
_MOST_SEARCHED = 500  # events, the newest first
# What an agent stores so soon after a message, with this part of the words, is what the message says.
_TURN, _MOST_WORDS = timedelta(minutes=30), 0.6
_DIGITS = re.compile(r"\d+")
_WHY = "Not checked by a reader yet."


class CandidatesResult(NamedTuple):
    """The filed candidates (in a dry run, those that would be filed) and the commit."""

    proposals: tuple[Proposal, ...] = ()
    commit: str | None = None
    notices: tuple[str, ...] = ()


def propose_unread(vault: Vault, caller: Caller, dry_run: bool = False) -> CandidatesResult:
    """File the strongest sentence of messages unread for 12 hours, at most `heartbeat.candidates` a day."""
    most = vault.settings.whole("heartbeat.candidates")
    if not most:
        return CandidatesResult()
    with writing(vault, caller, "learn", dry_run=dry_run) as work:
        filed = [each for each in read_proposals(vault, work.read).proposals if is_candidate(each)]
        room = most - sum(day_of(each.created) == day_of(stamp(caller.now)) for each in filed)
        fresh = list(islice(_candidates(work, filed), max(0, room)))
        if dry_run or not fresh:
            return CandidatesResult(tuple(fresh), notices=work.notices)
        change = Change(
            subject_line("propose", "ledger", f"{counted(len(fresh), 'candidate')} from messages that nobody read"),
            proposal_writes(fresh),
            (*trailers("propose", events=[each.source_event or "" for each in fresh]), *proposal_trailers(fresh)),
            body="\n".join(f"- {each.id} waits for review: {each.says}" for each in fresh),
        )
        return CandidatesResult(tuple(fresh), work.commit([change])[-1], work.notices)


def _candidates(work: WriteScope, filed: list[Proposal]) -> Iterator[Proposal]:
    before = {each.source_event for each in filed} | {normal(each.says) for each in filed}
    taken = {each.id for each in filed}
    for event, found in _sentences(work):
        if event.id in before or normal(found.statement) in before:
            continue
        before.add(normal(found.statement))
        made = Proposal(
            new_proposal_id(work.caller.entropy, taken), "fact", found.statement, _WHY, stamp(work.caller.now), ADD,
            fact=learned_fact(found, event, UNSET_ID, stamp(work.caller.now), CANDIDATES),
            source_event=event.id, agent=event.agent,
        )  # fmt: skip
        taken.add(made.id)
        yield made


def _sentences(work: WriteScope) -> Iterator[tuple[Event, Proposition]]:
    """Yield the unread messages with the sentence of each that a person may want to keep, newest first."""
    from clawmem.learning.rules.rules import candidate_in  # a task needs no rules, which take long to load

    vault = work.vault
    user, until = vault.settings.words("user.name"), stamp(work.caller.now - _GRACE)
    days = Surroundings(vault)
    for event in islice(after_cursor(vault, read_reading_state(vault), newest_first=True), _MOST_SEARCHED):
        if event.timestamp > until or not is_readable(event):
            continue
        around = days.events_of(day_of(event.timestamp))
        if takes_back(event.text) or event.id in taken_back(around):
            continue
        people = people_of(around)[session_of(event)]
        own = event._replace(text=mask_recalled(event.text, parts_of(event.metadata)))
        found = candidate_in(said_by_user(own, user), vault.catalog, people)
        if found and event.text[slice(*found.span)] == found.source_text and _is_news(work, found):
            yield event, found


def _is_news(work: WriteScope, found: Proposition) -> bool:
    """Return whether the gate accepts a sentence of which no fact was made."""
    known = [placed.fact for placed in facts_about(work.index, found.subject)] if found.subject else []
    made = (placed.fact.source_span for placed in facts_from_event(work.index, found.event_id))
    start, end = found.span
    kept = any(span and span[0] < end and start < span[1] for span in made) or _is_kept_by_agent(work, found)
    return not kept and judge(found, known, lambda text: None).accepted


def _is_kept_by_agent(work: WriteScope, found: Proposition) -> bool:
    """Return whether an agent stored, soon after a message, most of what a sentence of it says, with its numbers."""
    if not found.said_at:
        return False
    first, last = stamp(moment_of(found.said_at)), stamp(moment_of(found.said_at) + _TURN)
    stored = (placed.fact for placed in facts_of_days(work.index, {day_of(first), day_of(last)}))
    texts = [each.fact for each in stored if each.agent and not each.source_event and first <= each.timestamp <= last]
    return any(_restates(text, found.statement) for text in texts)


def _restates(stored: str, statement: str) -> bool:
    own, others = word_beginnings(statement), word_beginnings(stored)
    shared, least = len(own & others), min(len(own), len(others))
    return shared >= max(2, _MOST_WORDS * least) and set(_DIGITS.findall(statement)) <= set(_DIGITS.findall(stored))
