"""Learn: extract propositions from new events, decide about each, and write the accepted facts in one commit."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import takewhile
from pathlib import PurePosixPath
from typing import NamedTuple

from clawmem.errors import Unreadable
from clawmem.index.search.channels import current_statements
from clawmem.index.search.lookup import PlacedFact, by_ids
from clawmem.learning.adapt import current_adaptation
from clawmem.learning.attribution.quoted import own_sentences
from clawmem.learning.attribution.sentences import said_by_user
from clawmem.learning.by_model.telemetry import BY_RULES, Extraction, add_event, with_lines
from clawmem.learning.reconciling.entities import people_of, session_of
from clawmem.learning.reconciling.gate import DEFAULT_LIMITS
from clawmem.learning.reconciling.round import Extractor, LearningRound, RoundLimits
from clawmem.learning.reconciling.round_state import KEPT, NOTED, REFUSED, LearningCandidate, RoundState
from clawmem.learning.unread import ledger_paths
from clawmem.llm.choice import Model
from clawmem.memory.conflicts import with_followed_questions, without_questions
from clawmem.memory.proposals import proposal_trailers
from clawmem.memory.scope import WriteScope
from clawmem.memory.writing import writing
from clawmem.model.facts.fact import FactLink
from clawmem.model.history.entry import RIGHTS
from clawmem.model.kinds import LEDGER_DAY, file_kind
from clawmem.model.language.text import counted, normal
from clawmem.model.progress import OnProgress, counting
from clawmem.model.proposals.proposal import Proposal
from clawmem.model.records.access import GRANTS_PATH, Grant, with_grants
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change, subject_line, trailers
from clawmem.model.records.cursor import (
    CURSOR_PATH,
    DayProgress,
    LearningCursor,
    changed_days,
    events_after,
    parse_cursor,
    render_cursor,
)
from clawmem.model.records.event import Event, may_ask_to_forget, parse_events, taken_back
from clawmem.vault.state.journal import record_access
from clawmem.vault.state.reading_state import keep_reading_state, read_reading_state
from clawmem.vault.vault import Vault

_SHOWN_IN_BODY = 100


class LearnResult(NamedTuple):
    """The result of one round of learning.

    `events` is the number of events read. `proposals` wait for review.
    """

    events: int
    candidates: tuple[LearningCandidate, ...]
    entities: tuple[str, ...]
    commit: str | None
    extractor: str = BY_RULES.extractor
    notices: tuple[str, ...] = ()
    proposals: tuple[Proposal, ...] = ()
    extraction: Extraction = BY_RULES

    def count(self, outcome: str) -> int:
        """Return the number of candidates with this outcome."""
        return sum(1 for candidate in self.candidates if candidate.outcome == outcome)

    @property
    def taught_nothing(self) -> int:
        """Return the number of events read from which no fact came: none new, known, changed or proposed."""
        useful = {
            candidate.proposition.event_id for candidate in self.candidates if candidate.outcome not in (NOTED, REFUSED)
        }
        return max(0, self.events - len(useful))


def days_to_read(vault: Vault, since: str | None) -> frozenset[str] | None:
    """Return the ledger days that may have unread events, if every event in the commit `since` was read.

    These are the days that changed, and the days whose learning progress changed. Return None if unknown: then all days
    must be read.
    """
    head = vault.head().commit
    changed = vault.changed_paths_or_none(since, head) if since and head else None
    if changed is None or since is None:
        return None
    days = frozenset(PurePosixPath(path).stem for path in changed if file_kind(path) is LEDGER_DAY)
    if CURSOR_PATH not in changed:
        return days
    try:
        before = parse_cursor(vault.contents_at(since, [CURSOR_PATH])[CURSOR_PATH])
    except Unreadable:
        return None
    return days | changed_days(before, parse_cursor(vault.read(CURSOR_PATH)))


def learn(
    vault: Vault,
    caller: Caller,
    dry_run: bool = False,
    model: Model | None = None,
    days: Collection[str] | None = None,
    report: OnProgress | None = None,
) -> LearnResult:
    """Learn from all unread events, by rules, or by a model that answers the tasks of `pending`. With `dry_run` nothing
    is written.

    Events that the model does not reach wait for the next round. `days` limits the search of the rules for unread
    events to these days; the caller must know that all others were read. `report` gets the number of events that were
    decided about.
    """
    if model is not None:
        from clawmem.learning.by_model.read import read_by_model  # only where a model is set

        return read_by_model(vault, caller, model, dry_run, report)
    return learn_from(vault, caller, BY_RULES, dry_run, days, report)


def learn_from(
    vault: Vault,
    caller: Caller,
    read: Extraction,
    dry_run: bool = False,
    days: Collection[str] | None = None,
    report: OnProgress | None = None,
) -> LearnResult:
    """Decide about what an extraction found, and write the accepted facts in one commit."""
    with writing(vault, caller, "learn", dry_run=dry_run) as work:
        if (read.marks or read.grants) and not dry_run:
            _mark(work, read.marks, read.grants)  # first: they say what a request to forget reaches
        cursor = parse_cursor(work.read(CURSOR_PATH))
        found, after, around = unread_events(work, cursor, read, days)
        user = vault.settings.words("user.name")
        events = [said_by_user(event, user) for event in found]
        if not events and not read.telemetry:
            _keep_progress(vault, read, dry_run)
            return LearnResult(0, (), (), None, read.extractor, (*work.notices, *read.notices), extraction=read)
        state = RoundState(work, cursor)
        learning = LearningRound(
            state,
            vault.catalog,
            _limits(work),
            Extractor(read.extractor, read.propositions, read.found, read.workflow, rereads=not read.by_rules),
            people_of(said_by_user(event, user) for event in around),
        )
        # Who else speaks matters only in one conversation: a colleague's chat silences nobody's rules here.
        speakers = people_of(events)
        gone = taken_back(around) if read.by_rules else {}
        for event in counting(events, "learn", "events", report):
            if event.id not in gone:
                learning.consider(event, tuple(speakers[session_of(event)]))
        for event in (each for each in events if each.id in read.forget and may_ask_to_forget(each)):
            learning.candidates.append(learning.forget(event, read.forget[event.id]))
        if not read.by_rules:
            state.close_candidates(event.id for event in events if event.id not in read.unfinished)
        learning.candidates += read.rejected
        commit = None
        if not dry_run:
            learned = _change(work, state, learning.candidates, len(events), after)
            change = without_questions(work, learned, state.ended())
            change = with_followed_questions(work, change, state.ended(), state.replaced())
            written = {path: data for change in state.hidden for path, data in change.writes.items()}
            recorded = add_event(change, read.telemetry, lambda path: written.get(path) or work.read(path))
            recorded = with_lines(recorded, read.lines, lambda path: written.get(path) or work.read(path))
            commit = work.commit([*state.hidden, recorded])[-1]
            _keep_progress(vault, read, dry_run)
            mentioned = {*learning.mentioned, *(_said_again(work, events) if read.by_rules else ())}
            unrecorded = {record_access(vault, moment, [fact_id]) for fact_id, moment in sorted(mentioned)} - {None}
            read = read._replace(notices=(*read.notices, *filter(None, unrecorded)))
        return LearnResult(
            len(events),
            tuple(learning.candidates),
            tuple(sorted(state.touched)),
            commit,
            read.extractor,
            (*work.notices, *state.notices, *read.notices),
            tuple(state.proposals),
            read,
        )


def _said_again(work: WriteScope, events: Sequence[Event]) -> Iterator[tuple[str, str]]:
    """Yield the facts whose words people and assistants said since they were recorded, each with the time. What was
    said in other words, a reader finds."""
    known: dict[str, tuple[str, str]] = {}
    for event in (event for event in events if event.role in ("user", "assistant")):
        known = known or {normal(text): (fact, since) for fact, since, text in current_statements(work.index)}
        for sentence in own_sentences(event.text):
            fact, since = known.get(normal(sentence.text), ("", ""))
            if fact and since <= event.timestamp:
                yield fact, event.timestamp


def _mark(work: WriteScope, marks: Sequence[Event], grants: Sequence[Grant]) -> None:
    """Commit the marks of messages that are not for everybody, and the grants of messages, each once."""
    log = work.read(GRANTS_PATH) or b""
    fresh = list({grant.id: grant for grant in grants if grant.id.encode() not in log}.values())
    words = [counted(len(marks), "message") + " marked"] if marks else []
    words += [f"{grant.who} {grant.in_words}" for grant in fresh]
    subject = subject_line(RIGHTS, "ledger", f"{'; '.join(words)} by a reader")
    writes = {GRANTS_PATH: with_grants(log, fresh)} if fresh else {}
    change = with_lines(Change(subject, writes, trailers(RIGHTS, agent=work.caller.agent)), marks, work.read)
    if change.writes:
        work.commit([change])
        work.update_index()


def unread_events(
    work: WriteScope, cursor: LearningCursor, read: Extraction, days: Collection[str] | None = None
) -> tuple[list[Event], LearningCursor, list[Event]]:
    """Return the new events that were read, if only in part, in order, the new progress of each day, and all events of
    the days with new ones.

    `read` says which events a model or the rules cover. The progress ends before the first event not read completely.
    """
    fresh: list[Event] = []
    around: list[Event] = []
    reached, by_model = dict(cursor.days), dict(cursor.by_model)
    for name in ledger_paths(work.vault, days):
        day = PurePosixPath(name).stem
        events = parse_events(work.read(name) or b"", name)
        waiting = events_after(events, (reached if read.by_rules else by_model).get(day))
        around += events if waiting else ()
        fresh += waiting if read.by_rules else _found(events, waiting, read)
        _advance(reached, day, events, read)
        if not read.by_rules:
            _advance(by_model, day, events, read)
    return fresh, LearningCursor(reached, cursor.mentions, by_model), around


def _found(events: Sequence[Event], waiting: Sequence[Event], read: Extraction) -> list[Event]:
    """Return the events of which something was found: those that wait, and those that are read once more by hand."""
    if not read.again:
        return [event for event in waiting if event.id in read.found]
    ids = {event.id for event in waiting} | read.again
    return [event for event in events if event.id in read.found and event.id in ids]


def _advance(reached: dict[str, DayProgress], day: str, events: Sequence[Event], read: Extraction) -> None:
    """Move the progress of a day past the events that were read completely, up to the first that was not."""
    waiting = events_after(events, reached.get(day))
    new = list(takewhile(read.covers, waiting))
    if new:
        reached[day] = DayProgress(len(events) - len(waiting) + len(new), new[-1].id)


def _keep_progress(vault: Vault, read: Extraction, dry_run: bool) -> None:
    if read.progress is not None and not dry_run:
        # Another process may have given out a task or applied an answer meanwhile.
        now = read_reading_state(vault)
        keep_reading_state(vault, read.progress._replace(applied=now.applied, tasks=now.tasks, judged=now.judged))


def _limits(work: WriteScope) -> RoundLimits:
    gate = DEFAULT_LIMITS._replace(confidence=current_adaptation(work.read, work.vault.settings).gate_confidence)
    return RoundLimits(gate=gate)


def _change(
    work: WriteScope, state: RoundState, candidates: Sequence[LearningCandidate], events: int, after: LearningCursor
) -> Change:
    """Return the round as one change: facts, new entities, daily notes, proposals and the learning cursor."""
    kept = [candidate for candidate in candidates if candidate.outcome in KEPT and candidate.fact]
    replaced = [link.to for candidate in kept for link in _links(candidate)]
    items = trailers(
        "learn",
        facts=[candidate.fact.id for candidate in kept if candidate.fact],
        entities=sorted(state.touched),
        supersedes=replaced,
        events=list(dict.fromkeys(candidate.proposition.event_id for candidate in kept)),
    )
    words = f"{counted(len(kept), 'fact')} from {counted(events, 'event')}"
    if state.proposals:
        words += f", {counted(len(state.proposals), 'proposal')}"
    return Change(
        subject_line("learn", "ledger", words),
        {**state.writes(), CURSOR_PATH: render_cursor(after._replace(mentions=state.mentions()))},
        (*items, *proposal_trailers(state.proposals)),
        body=_body(kept, by_ids(work.index, replaced), state.proposals),
    )


def _links(candidate: LearningCandidate) -> Sequence[FactLink]:
    return candidate.fact.links if candidate.fact else ()


def _body(kept: Sequence[LearningCandidate], replaced: Mapping[str, PlacedFact], proposals: Sequence[Proposal]) -> str:
    lines = []
    for candidate in kept:
        links = [link for link in _links(candidate) if link.type != "contradicts" and link.to in replaced]
        # What was replaced earlier is named by the commit that did so.
        old = [replaced[link.to].fact.fact for link in links if replaced[link.to].fact.is_current]
        was = f" (was: {'; '.join(old)})" if old else ""
        lines.append(f"- {candidate.entity}: {candidate.proposition.statement}{was}")
    lines += [f"- {proposal.id} waits for review: {proposal.says}" for proposal in proposals]
    more = len(lines) - _SHOWN_IN_BODY
    return "\n".join([*lines[:_SHOWN_IN_BODY], *([f"- and {more} more"] if more > 0 else [])])
