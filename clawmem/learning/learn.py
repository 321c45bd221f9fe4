"""Learn: new events are read, what they propose is judged, and what deserves it becomes facts in one commit."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import takewhile
from pathlib import PurePosixPath
from typing import NamedTuple

from clawmem.errors import Unreadable
from clawmem.learning.by_model.extraction import BY_RULES, Extraction, extract_unread, ledgers
from clawmem.learning.by_model.telemetry import with_telemetry
from clawmem.learning.promotion.adapt import adaptation
from clawmem.learning.reconciling.candidate import KEPT, LearningCandidate
from clawmem.learning.reconciling.cursor import (
    PATH,
    DayProgress,
    LearningCursor,
    moved,
    parse_cursor,
    render_cursor,
    unread,
)
from clawmem.learning.reconciling.gate import DEFAULT_LIMITS
from clawmem.learning.reconciling.round import Extractor, LearningRound, RoundLimits
from clawmem.learning.reconciling.round_state import RoundState
from clawmem.llm.choice import Model
from clawmem.memory.review.proposals import filing_trailers
from clawmem.memory.writing import WriteScope, writing
from clawmem.model.language.text import counted
from clawmem.model.proposals.proposal import Proposal
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change, subject_line, trailers
from clawmem.model.records.event import Event, parse_events, people_in
from clawmem.model.records.layout import is_ledger
from clawmem.vault.state.reading_state import keep_reading_state
from clawmem.vault.vault import Vault

_SHOWN_IN_BODY = 100


class LearnResult(NamedTuple):
    """What one round of learning did, and by which extractor; `proposals` are those it set aside for a person."""

    events: int
    candidates: tuple[LearningCandidate, ...]
    entities: tuple[str, ...]
    commit: str | None
    extractor: str = BY_RULES.extractor
    notices: tuple[str, ...] = ()
    proposals: tuple[Proposal, ...] = ()
    extraction: Extraction = BY_RULES

    def count(self, outcome: str) -> int:
        """How many candidates ended that way."""
        return sum(1 for one in self.candidates if one.outcome == outcome)


def days_to_read(vault: Vault, since: str | None) -> frozenset[str] | None:
    """The days of the ledger that may hold unread events, where every event of the commit `since` was read: those
    that changed, and those that learning stands elsewhere in since. None, all of them, where that cannot be told."""
    head = vault.head().commit
    changed = vault.changed_between(since, head) if since and head else None
    if changed is None or since is None:
        return None
    days = frozenset(PurePosixPath(path).stem for path in changed if is_ledger(path))
    if PATH not in changed:
        return days
    try:
        before = parse_cursor(vault.contents_at(since, [PATH])[PATH])
    except Unreadable:
        return None
    return days | moved(before, parse_cursor(vault.read(PATH)))


def learn(
    vault: Vault,
    caller: Caller,
    dry_run: bool = False,
    model: Model | None = None,
    days: Collection[str] | None = None,
) -> LearnResult:
    """Learn from every event that no earlier round has read, by rules or by a model; with `dry_run` nothing is
    written. What a model did not come to waits for the next round. Only these `days` are looked at, where they are
    given: the caller knows that all others were read."""
    read = extract_unread(vault, caller, model, dry_run, days)
    with writing(vault, caller, "learn", dry_run=dry_run) as work:
        cursor = parse_cursor(work.read(PATH))
        events, reached = unread_events(work, cursor, read, days)
        if not events and not read.telemetry:
            _keep_progress(vault, read, dry_run)
            return LearnResult(0, (), (), None, read.extractor, (*work.notices, *read.notices), extraction=read)
        mind = RoundState(work, cursor)
        going = LearningRound(
            mind, vault.catalog, _terms(work), Extractor(read.extractor, read.propositions, read.found, read.continued)
        )
        speakers = people_in(events)
        for event in events:
            going.consider(event, tuple(speakers))
        going.propose_predicates(going.unknown.entries(work.index))
        commit = None
        if not dry_run:
            change = _change(mind, going.candidates, len(events), reached)
            commit = work.commit([with_telemetry(change, read.telemetry, work.read)])[-1]
            _keep_progress(vault, read, dry_run)
        return LearnResult(
            len(events),
            tuple(going.candidates),
            tuple(sorted(mind.touched)),
            commit,
            read.extractor,
            (*work.notices, *mind.notices, *read.notices),
            tuple(mind.proposals),
            read,
        )


def unread_events(
    work: WriteScope, cursor: LearningCursor, read: Extraction, days: Collection[str] | None = None
) -> tuple[list[Event], dict[str, DayProgress]]:
    """Events the cursor has not reached and somebody read, if only in part, in order of day, and how far each day
    reaches now: up to the first event that was not read to its end."""
    fresh: list[Event] = []
    reached = dict(cursor.days)
    for name in ledgers(work.vault, days):
        day = PurePosixPath(name).stem
        events = parse_events(work.read(name) or b"", name)
        waiting = unread(events, reached.get(day))
        new = list(takewhile(read.covers, waiting))
        fresh += waiting if read.by_rules else [event for event in waiting if event.id in read.found]
        if new:
            reached[day] = DayProgress(len(events) - len(waiting) + len(new), new[-1].id)
    return fresh, reached


def _keep_progress(vault: Vault, read: Extraction, dry_run: bool) -> None:
    if read.progress is not None and not dry_run:
        keep_reading_state(vault, read.progress)


def _terms(work: WriteScope) -> RoundLimits:
    settings = work.vault.settings
    limits = DEFAULT_LIMITS._replace(confidence=adaptation(work.read, settings).gate_confidence)
    return RoundLimits(
        settings.whole("heartbeat.max_facts_per_event"), settings.number("gate.conflict_confidence"), limits
    )


def _change(
    mind: RoundState, candidates: Sequence[LearningCandidate], events: int, reached: Mapping[str, DayProgress]
) -> Change:
    """The round as one change: facts, new entities, daily notes, proposals, and how far learning has come."""
    kept = [one for one in candidates if one.outcome in KEPT and one.fact]
    said = trailers(
        "learn",
        facts=[one.fact.id for one in kept if one.fact],
        entities=sorted(mind.touched),
        supersedes=[link.to for one in kept if one.fact for link in one.fact.links],
        events=list(dict.fromkeys(one.proposition.event_id for one in kept)),
    )
    words = f"{counted(len(kept), 'fact')} from {counted(events, 'event')}"
    if mind.proposals:
        words += f", {counted(len(mind.proposals), 'proposal')}"
    return Change(
        subject_line("learn", "ledger", words),
        {**mind.writes(), PATH: render_cursor(LearningCursor(reached, mind.mentions()))},
        (*said, *filing_trailers(mind.proposals)),
        body=_body(kept, mind.proposals),
    )


def _body(kept: Sequence[LearningCandidate], proposals: Sequence[Proposal]) -> str:
    lines = [f"- {one.entity}: {one.proposition.statement}" for one in kept]
    lines += [f"- {one.id} waits for review: {one.says}" for one in proposals]
    more = len(lines) - _SHOWN_IN_BODY
    return "\n".join([*lines[:_SHOWN_IN_BODY], *([f"- and {more} more"] if more > 0 else [])])
