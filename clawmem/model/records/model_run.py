"""Records of model runs: events of the ledger that say what each run did and cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from clawmem.model.language.text import counted
from clawmem.model.records.event import MODEL_RUN, Event, parse_events

SOURCE = "clawmem"


def model_run(event: Event) -> Mapping[str, Any] | None:
    """Return the record of the model run in an event, or None for other events."""
    run = (event.metadata or {}).get(MODEL_RUN)
    return run if event.kind == "app" and event.source == SOURCE and isinstance(run, dict) else None


def runs_in(data: bytes, path: str) -> list[Mapping[str, Any]]:
    """Return the recorded runs of a ledger file, oldest first. Only the lines that may contain one are parsed."""
    mark = f'"{MODEL_RUN}"'.encode()
    lines = b"\n".join(line for line in data.split(b"\n") if mark in line)
    return [run for event in parse_events(lines, path) if (run := model_run(event)) is not None] if lines else []


def total_cents(runs: Iterable[Mapping[str, Any]]) -> float:
    """Return the total cost of the runs in cents. A manually edited invalid amount counts as 0."""
    return sum(max(0.0, _number(run, "cents")) for run in runs)


def unpriced_calls(runs: Iterable[Mapping[str, Any]]) -> int:
    """Return the calls whose price is not known."""
    return sum(int(_number(run, "calls")) for run in runs if run.get("priced") is False)


def unpriced_tokens(runs: Iterable[Mapping[str, Any]]) -> int:
    """Return the tokens of the calls whose price is not known."""
    return total_tokens(run for run in runs if run.get("priced") is False)


def total_tokens(runs: Iterable[Mapping[str, Any]]) -> int:
    """Return the tokens of prompts and answers of the runs."""
    return sum(int(_number(run, "prompt_tokens") + _number(run, "answer_tokens")) for run in runs)


def cost_line(run: Mapping[str, Any]) -> str:
    """Return what a run cost, on one line."""
    cents, cached = _number(run, "cents"), int(_number(run, "cached"))
    money = f"{cents:.4g} cents" if run.get("priced", True) else "price not known"
    kept = f", {counted(cached, 'kept answer')}" if cached else ""
    calls = counted(int(_number(run, "calls")), "call")
    return f"cost of {run.get('model')}: {money}, {calls}{kept}, {total_tokens([run]):,} tokens"


def _number(run: Mapping[str, Any], key: str) -> float:
    value = run.get(key, 0)
    return float(value) if isinstance(value, int | float) else 0.0
