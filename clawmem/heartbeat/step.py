"""One step of the heartbeat: its name, when it is due, what it does, and what it reports."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from clawmem.errors import ClawmemError
from clawmem.llm.choice import Model
from clawmem.model.records.caller import Caller
from clawmem.vault.state.heartbeat_state import HeartbeatState
from clawmem.vault.vault import Vault


class StepContext(NamedTuple):
    """What a step works on: the vault, the caller, the state that the last heartbeat left, the model where one is set,
    whether nothing may be written, and the results of the steps before it by name (None: not due, or failed)."""

    vault: Vault
    caller: Caller
    last: HeartbeatState
    model: Model | None
    dry_run: bool
    results: Mapping[str, Any]


class Due(NamedTuple):
    """When a step is due, in words and as a test."""

    words: str
    test: Callable[[StepContext], object]


class Report(NamedTuple):
    """What a step reports: keys of the JSON answer, lines for people, and more lines under `--explain`."""

    data: Mapping[str, Any] = {}
    lines: tuple[str, ...] = ()
    details: tuple[str, ...] = ()


def no_report(result: Any, explain: bool) -> Report:
    """The report of a step that people need not hear of."""
    return Report()


def result_problems(result: Any) -> Iterable[tuple[str | None, ClawmemError]]:
    """The problems that a result names, under the name of its step (None)."""
    return ((None, problem) for problem in getattr(result, "problems", ()))


class Step(NamedTuple):
    """A row of the table of steps.

    `act` does the work; its result may have `commit` or `commits`, `notices` and `problems`. `report` takes the result
    (None: not due, or failed) and whether `--explain` was given. `failures` names what failed though the step went on.
    """

    name: str
    about: str
    due: Due
    act: Callable[[StepContext], Any]
    report: Callable[[Any, bool], Report] = no_report
    failures: Callable[[Any], Iterable[tuple[str | None, ClawmemError]]] = result_problems
