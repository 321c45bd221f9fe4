"""Record each model run as an event in the ledger. Its cost counts towards the daily limit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from clawmem.llm.budget import Spent
from clawmem.llm.prompts import prompt_version
from clawmem.model.language.dates import day_of, stamp
from clawmem.model.language.text import counted
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
    """Return the change with the event added to the ledger.

    If the day was learned completely, the learning cursor moves past the new event.
    """
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
    """Return the change with the lines that tell messages alone in the ledgers of their days; a line that is there
    already is not written again."""

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
