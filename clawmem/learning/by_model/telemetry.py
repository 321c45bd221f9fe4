"""What was extracted from events, by rules or a model, and the record of each model run as an event in the ledger. Its
cost counts towards the daily limit.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

from clawmem.errors import ClawmemError
from clawmem.learning.attribution.quoted import limit_trust
from clawmem.learning.reconciling.round_state import LearningCandidate
from clawmem.learning.rules import rules
from clawmem.llm.budget import Spent
from clawmem.llm.choice import prompt_version
from clawmem.model.facts.catalog import Catalog
from clawmem.model.language.dates import day_of, stamp
from clawmem.model.language.text import counted
from clawmem.model.proposals.para import Proposition
from clawmem.model.records.access import Grant
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change
from clawmem.model.records.cursor import CURSOR_PATH, DayProgress, parse_cursor, render_cursor
from clawmem.model.records.event import (
    MODEL_RUN,
    SOURCE,
    Event,
    ledger_path,
    parse_events,
    render_events,
    runs_in,
    total_cents,
    unpriced_calls,
    unpriced_tokens,
)
from clawmem.model.records.event import model_run as model_run
from clawmem.vault.state.reading_state import ReadingState

TRIAL = "test"
APPLYING = "apply"
Read = Callable[[str], bytes | None]


def reading_event(
    caller: Caller,
    model: str,
    spent: Spent,
    priced: bool,
    outcome: str,
    events: int,
    dropped: Mapping[str, int],
    answer: str | None = None,
) -> Event:
    """Return the event for an answer about events, or for a run that failed. `outcome` is done, or the code of an
    error. `answer` is the digest of an answer of the calling agent: what it cost the agent is not known here."""
    task = {"task": APPLYING} if answer else {}
    known = {"model": model, **task, "prompt": prompt_version("read"), "outcome": outcome, "events": events}
    record = _record(known, spent, priced, dropped)
    how = "as the calling agent" if answer else f"in {counted(spent.calls, 'call')}"
    return _event(caller, f"read {counted(events, 'event')} {how}: {counted(spent.facts, 'fact')}", record, answer)


def trial_event(caller: Caller, model: str, spent: Spent, priced: bool, outcome: str) -> Event:
    """Return the event for a run that tried whether the model can be used."""
    known = {"model": model, "task": TRIAL, "prompt": prompt_version("trial"), "outcome": outcome}
    return _event(caller, f"was tried in {counted(spent.calls, 'call')}", _record(known, spent, priced, {}))


def answering_event(
    caller: Caller, model: str, spent: Spent, priced: bool, outcome: str, answers: Mapping[str, int]
) -> Event:
    """Return the event for a run that answered tasks of the queue; `answers` are their numbers by kind."""
    known = {"model": model, "task": "queue", "outcome": outcome, "answers": dict(answers)}
    kinds = ", ".join(f"{number} to {kind}" for kind, number in answers.items())
    did = f"answered {counted(sum(answers.values()), 'task')} in {counted(spent.calls, 'call')}: {kinds or 'none'}"
    return _event(caller, did, _record(known, spent, priced, {}))


def _record(known: dict[str, Any], spent: Spent, priced: bool, dropped: Mapping[str, int]) -> dict[str, Any]:
    record = {**known, **spent._asdict(), "cents": round(spent.cents, 6), "dropped": sum(dropped.values())}
    if not priced:
        record["priced"] = False
    if dropped:
        record["dropped_for"] = dict(dropped)
    return record


def _event(caller: Caller, did: str, record: dict[str, Any], key: str | None = None) -> Event:
    money = f"{record['cents']:g} cents" if record.get("priced", True) else "price not known"
    text = f"The model {record['model']} {did}, {record['dropped']} dropped, {money} ({record['outcome']})."
    identity = f"evt_{key[:16] if key else caller.entropy(8).hex()}"
    return Event(
        identity, stamp(caller.now), "system", text, agent=caller.agent, source=SOURCE, kind="app",
        metadata={MODEL_RUN: record},
    )  # fmt: skip


def is_worth_recording(spent: Spent, outcome: str, runs: Sequence[Mapping[str, Any]]) -> bool:
    """Return whether a run should be recorded.

    A free run that fails like the previous one is recorded once a day, so that a machine without network does not
    commit at every heartbeat. `runs` are the runs of the day with the same task.
    """
    if not spent.calls:
        return False
    costly = spent.cents or spent.prompt_tokens or spent.answer_tokens or not runs
    return bool(costly or runs[-1].get("outcome") != outcome)


def spent_in(runs: Sequence[Mapping[str, Any]]) -> Spent:
    """Return what runs have cost: their cents, and the calls and tokens whose price is not known."""
    return Spent(unpriced_calls(runs), prompt_tokens=unpriced_tokens(runs), cents=total_cents(runs))


def model_runs(read: Read, day: str) -> list[Mapping[str, Any]]:
    """Return the recorded runs of a day, oldest first."""
    path = ledger_path(day)
    return runs_in(read(path) or b"", path)


def add_event(change: Change, event: Event | None, read: Read) -> Change:
    """Return the change with the event in the ledger. On a day learned completely, the cursor moves past it."""
    if event is None:
        return change
    day = day_of(event.timestamp)
    path = ledger_path(day)
    data = read(path) or b""
    known = parse_events(data, path)
    cursor = parse_cursor(change.writes.get(CURSOR_PATH) or read(CURSOR_PATH))
    days, by_model = dict(cursor.days), dict(cursor.by_model)
    for reached in (days, by_model):
        if _is_fully_learned(known, reached.get(day)):
            reached[day] = DayProgress(len(known) + 1, event.id)
    gap = b"" if not data or data.endswith(b"\n") else b"\n"
    writes = {
        path: data + gap + render_events([event]),
        CURSOR_PATH: render_cursor(cursor._replace(days=days, by_model=by_model)),
    }
    return change._replace(writes={**change.writes, **writes})


def with_lines(change: Change, lines: Sequence[Event], read: Read) -> Change:
    """Return the change with the lines that tell messages alone in their ledgers, each written once."""

    def now(path: str) -> bytes | None:
        return change.writes.get(path) or read(path)

    for line in lines:
        if line.id.encode() not in (now(ledger_path(day_of(line.timestamp))) or b""):
            change = add_event(change, line, now)
    return change


def _is_fully_learned(known: Sequence[Event], reached: DayProgress | None) -> bool:
    if not known:
        return True
    return reached is not None and (reached.events, reached.last) == (len(known), known[-1].id)


RULES = "rules"


class Extraction(NamedTuple):
    """The result of extraction.

    Without a `model` the rules read all events. Otherwise `found` maps event ids to the model's propositions, all other
    events wait, and those that only the rules have read are read again. `telemetry` is the event that records the model
    run, `problem` the reason why the model read only a part, `others` the reasons of further readers, `dropped` the
    number of dropped facts by reason, and `rejected` these facts. Only some propositions of an `unfinished` event are
    known, so it waits. `progress` is stored after the commit. `passed` are the events that count as read beside those
    found, those `again` had been set aside, and `workflow` is stored with each fact. `forget` maps the events that ask
    to forget something to the ids of the facts that they mean. `lines` tell messages alone, `marks` say for whom they
    are, and `grants` what messages grant.
    """

    model: str | None = None
    found: Mapping[str, tuple[Proposition, ...]] = {}
    telemetry: Event | None = None
    problem: ClawmemError | None = None
    dropped: Mapping[str, int] = {}
    notices: tuple[str, ...] = ()
    unfinished: frozenset[str] = frozenset()
    progress: ReadingState | None = None
    rejected: tuple[LearningCandidate, ...] = ()
    passed: frozenset[str] = frozenset()
    workflow: str = ""
    again: frozenset[str] = frozenset()
    forget: Mapping[str, tuple[str, ...]] = {}
    lines: tuple[Event, ...] = ()
    marks: tuple[Event, ...] = ()
    grants: tuple[Grant, ...] = ()
    others: tuple[ClawmemError, ...] = ()

    @property
    def by_rules(self) -> bool:
        """Return whether the rules read the events."""
        return self.model is None

    @property
    def extractor(self) -> str:
        """Return the name of the extractor: the model, or `rules`."""
        return self.model or RULES

    @property
    def run(self) -> Mapping[str, Any] | None:
        """Return the record of the model run, or None if no model was called."""
        return model_run(self.telemetry) if self.telemetry else None

    def covers(self, event: Event) -> bool:
        """Return whether the event was read completely, or will be read by the rules."""
        found = event.id in self.found and event.id not in self.unfinished
        return self.by_rules or found or event.id in self.passed

    def propositions(self, event: Event, catalog: Catalog, speakers: Collection[str]) -> tuple[Proposition, ...]:
        """Return the propositions of the event. A model's proposition without exact evidence is left out."""
        if event.id not in self.found:
            return rules.extract(event, catalog, speakers)
        found = (
            proposition
            for proposition in self.found[event.id]
            if event.text[slice(*proposition.span)] == proposition.source_text
        )
        return limit_trust(event, tuple(found), by_reader=True)


BY_RULES = Extraction()
