"""Record each model run as an event in the ledger. Its cost counts towards the daily limit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from clawmem.llm.budget import Spent
from clawmem.model.language.dates import day_of, stamp
from clawmem.model.language.text import counted
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change
from clawmem.model.records.cursor import CURSOR_PATH, DayProgress, parse_cursor, render_cursor
from clawmem.model.records.event import MODEL_RUN, Event, ledger_path, parse_events, render_events

SOURCE = "clawmem"
JUDGING = "promotion"
Read = Callable[[str], bytes | None]


def reading_event(
    caller: Caller,
    model: str,
    spent: Spent,
    priced: bool,
    outcome: str,
    events: int,
    dropped: Mapping[str, int],
    unmapped: Mapping[str, int],
) -> Event:
    """Return the event for a run that read events. `outcome` is done, rules or the code of an error."""
    record = _record({"model": model, "outcome": outcome, "events": events}, spent, priced, dropped)
    if unmapped:
        record["unknown_predicates"] = dict(unmapped)
    did = f"read {counted(events, 'event')} in {counted(spent.calls, 'call')}: {counted(spent.facts, 'fact')}"
    return _event(caller, did, record)


def judging_event(
    caller: Caller, model: str, spent: Spent, priced: bool, outcome: str, judged: int, dropped: Mapping[str, int]
) -> Event:
    """Return the event for a run that judged candidates for promotion."""
    known = {"model": model, "task": JUDGING, "outcome": outcome, "judged": judged}
    record = _record(known, spent, priced, dropped)
    did = f"judged {counted(judged, 'fact')} in {counted(spent.calls, 'call')}: {spent.facts} worth thirty days"
    return _event(caller, did, record)


def narrating_event(
    caller: Caller, model: str, spent: Spent, priced: bool, outcome: str, days: int, dropped: Mapping[str, int]
) -> Event:
    """Return the event for a run that wrote the narratives of days."""
    known = {"model": model, "task": "narrative", "outcome": outcome, "days": days}
    did = f"wrote about {counted(days, 'day')} in {counted(spent.calls, 'call')}"
    return _event(caller, did, _record(known, spent, priced, dropped))


def _record(known: dict[str, Any], spent: Spent, priced: bool, dropped: Mapping[str, int]) -> dict[str, Any]:
    record = {**known, **spent._asdict(), "cents": round(spent.cents, 6), "dropped": sum(dropped.values())}
    if not priced:
        record["priced"] = False
    if dropped:
        record["dropped_for"] = dict(dropped)
    return record


def _event(caller: Caller, did: str, record: dict[str, Any]) -> Event:
    money = f"{record['cents']:g} cents" if record.get("priced", True) else "price not known"
    text = f"The model {record['model']} {did}, {record['dropped']} dropped, {money} ({record['outcome']})."
    identity = f"evt_{caller.entropy(8).hex()}"
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


def model_run(event: Event) -> Mapping[str, Any] | None:
    """Return the record of the model run in an event, or None for other events."""
    run = (event.metadata or {}).get(MODEL_RUN)
    return run if event.kind == "app" and event.source == SOURCE and isinstance(run, dict) else None


def model_runs(read: Read, day: str) -> list[Mapping[str, Any]]:
    """Return the recorded runs of a day, oldest first."""
    path = ledger_path(day)
    return [run for event in parse_events(read(path) or b"", path) if (run := model_run(event)) is not None]


def total_cents(runs: Iterable[Mapping[str, Any]]) -> float:
    """Return the total cost of the runs in cents. A manually edited invalid amount counts as 0."""
    amounts = (run.get("cents", 0) for run in runs)
    return sum(float(one) for one in amounts if isinstance(one, int | float) and one > 0)


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
    days = dict(cursor.days)
    if _is_fully_learned(known, days.get(day)):
        days[day] = DayProgress(len(known) + 1, event.id)
    gap = b"" if not data or data.endswith(b"\n") else b"\n"
    writes = {path: data + gap + render_events([event]), CURSOR_PATH: render_cursor(cursor._replace(days=days))}
    return change._replace(writes={**change.writes, **writes})


def _is_fully_learned(known: Sequence[Event], reached: DayProgress | None) -> bool:
    if not known:
        return True
    return reached is not None and (reached.events, reached.last) == (len(known), known[-1].id)
