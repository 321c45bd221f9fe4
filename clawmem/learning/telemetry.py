"""What a run of a model cost, as an event in the ledger: kept with what it learned, counted against the day."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from clawmem.learning.cursor import PATH, Reached, parse_cursor, render_cursor
from clawmem.llm.budget import Spent
from clawmem.model.caller import Caller
from clawmem.model.change import Change
from clawmem.model.dates import day_of, stamp
from clawmem.model.event import Event, ledger_path, parse_events, render_events

SOURCE = "clawmem"
_RUN = "model_run"
Read = Callable[[str], bytes | None]


def telemetry(
    caller: Caller,
    model: str,
    spent: Spent,
    priced: bool,
    outcome: str,
    events: int,
    dropped: Mapping[str, int],
    unmapped: Mapping[str, int],
) -> Event:
    """One run as an app event; `outcome` is done, budget, model or rules."""
    record: dict[str, Any] = {"model": model, "outcome": outcome, "events": events, **spent._asdict()}
    record["cents"] = round(spent.cents, 6)
    record["dropped"] = sum(dropped.values())
    if not priced:
        record["priced"] = False
    if dropped:
        record["dropped_for"] = dict(dropped)
    if unmapped:
        record["unknown_predicates"] = dict(unmapped)
    money = f"{record['cents']:g} cents" if priced else "price not known"
    text = (
        f"The model {model} read {events} events in {spent.calls} calls: {spent.facts} facts, "
        f"{record['dropped']} dropped, {money} ({outcome})."
    )
    identity = f"evt_{caller.entropy(8).hex()}"
    return Event(
        identity, stamp(caller.now), "system", text, agent=caller.agent, source=SOURCE, kind="app",
        metadata={_RUN: record},
    )  # fmt: skip


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
    """The change with the event in it, and learning's place moved past the event where it had come that far."""
    if event is None:
        return change
    day = day_of(event.timestamp)
    path = ledger_path(day)
    data = read(path) or b""
    known = parse_events(data, path)
    cursor = parse_cursor(change.writes[PATH])
    days = dict(cursor.days)
    if _came_to_the_end(known, days.get(day)):
        days[day] = Reached(len(known) + 1, event.id)
    gap = b"" if not data or data.endswith(b"\n") else b"\n"
    writes = {path: data + gap + render_events([event]), PATH: render_cursor(cursor._replace(days=days))}
    return change._replace(writes={**change.writes, **writes})


def _came_to_the_end(known: Sequence[Event], reached: Reached | None) -> bool:
    if not known:
        return True
    return reached is not None and (reached.events, reached.last) == (len(known), known[-1].id)
