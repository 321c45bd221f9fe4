"""What a run of a model cost, as an event in the ledger: kept with what it learned, counted against the day."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from clawmem.llm.budget import Spent
from clawmem.model.language.dates import day_of, stamp
from clawmem.model.language.text import counted
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change
from clawmem.model.records.cursor import PATH, DayProgress, parse_cursor, render_cursor
from clawmem.model.records.event import Event, ledger_path, parse_events, render_events

SOURCE = "clawmem"
_RUN = "model_run"
JUDGING = "promotion"
Read = Callable[[str], bytes | None]


def telemetry_of_reading(
    caller: Caller,
    model: str,
    spent: Spent,
    priced: bool,
    outcome: str,
    events: int,
    dropped: Mapping[str, int],
    unmapped: Mapping[str, int],
) -> Event:
    """A run that read events, as an app event; `outcome` is done, budget, model or rules."""
    record = _record({"model": model, "outcome": outcome, "events": events}, spent, priced, dropped)
    if unmapped:
        record["unknown_predicates"] = dict(unmapped)
    did = f"read {counted(events, 'event')} in {counted(spent.calls, 'call')}: {counted(spent.facts, 'fact')}"
    return _event(caller, did, record)


def telemetry_of_judging(
    caller: Caller, model: str, spent: Spent, priced: bool, outcome: str, judged: int, dropped: Mapping[str, int]
) -> Event:
    """A run that judged what may be promoted, as an app event; its `facts` are those found worth it."""
    known = {"model": model, "task": JUDGING, "outcome": outcome, "judged": judged}
    record = _record(known, spent, priced, dropped)
    did = f"judged {counted(judged, 'fact')} in {counted(spent.calls, 'call')}: {spent.facts} worth thirty days"
    return _event(caller, did, record)


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
        metadata={_RUN: record},
    )  # fmt: skip


def worth_telling(spent: Spent, outcome: str, runs: Sequence[Mapping[str, Any]]) -> bool:
    """Every run that called the model leaves an event, but the same failure at no cost only once a day, or a
    machine without network would commit at every beat; `runs` are those of the day with the same task."""
    if not spent.calls:
        return False
    costly = spent.cents or spent.prompt_tokens or spent.answer_tokens or not runs
    return bool(costly or runs[-1].get("outcome") != outcome)


def run_of(event: Event) -> Mapping[str, Any] | None:
    """The run that an event tells of, None where it is another event."""
    run = (event.metadata or {}).get(_RUN)
    return run if event.kind == "app" and event.source == SOURCE and isinstance(run, dict) else None


def runs_of(read: Read, day: str) -> list[Mapping[str, Any]]:
    """The runs of a day that the ledger knows, oldest first."""
    path = ledger_path(day)
    return [run for event in parse_events(read(path) or b"", path) if (run := run_of(event)) is not None]


def cents_of(runs: Iterable[Mapping[str, Any]]) -> float:
    """What these runs cost together; where a hand has edited one into something else, it counts nothing."""
    amounts = (run.get("cents", 0) for run in runs)
    return sum(float(one) for one in amounts if isinstance(one, int | float) and one > 0)


def with_telemetry(change: Change, event: Event | None, read: Read) -> Change:
    """The change with the event in it, and learning's place, as the change or else the vault has it, moved past the
    event where it had come that far."""
    if event is None:
        return change
    day = day_of(event.timestamp)
    path = ledger_path(day)
    data = read(path) or b""
    known = parse_events(data, path)
    cursor = parse_cursor(change.writes.get(PATH) or read(PATH))
    days = dict(cursor.days)
    if _came_to_the_end(known, days.get(day)):
        days[day] = DayProgress(len(known) + 1, event.id)
    gap = b"" if not data or data.endswith(b"\n") else b"\n"
    writes = {path: data + gap + render_events([event]), PATH: render_cursor(cursor._replace(days=days))}
    return change._replace(writes={**change.writes, **writes})


def _came_to_the_end(known: Sequence[Event], reached: DayProgress | None) -> bool:
    if not known:
        return True
    return reached is not None and (reached.events, reached.last) == (len(known), known[-1].id)
