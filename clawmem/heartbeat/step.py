"""The parts of a heartbeat step: when it is due, what it runs, and what it reports."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from clawmem.errors import ClawmemError
from clawmem.llm.choice import Model
from clawmem.model.progress import OnProgress
from clawmem.model.records.caller import Caller
from clawmem.vault.state.heartbeat_state import HeartbeatState
from clawmem.vault.vault import Vault


class StepContext(NamedTuple):
    """The input of a step.

    `last` is the state stored by the last heartbeat. `results` maps the names of earlier steps to their results; steps
    that were not due or failed are missing. `model` reads events, `judge` judges facts for promotion, and `narrator`
    writes the narratives of days. `report` gets how far a step is.
    """

    vault: Vault
    caller: Caller
    last: HeartbeatState
    model: Model | None
    dry_run: bool
    results: Mapping[str, Any]
    judge: Model | None = None
    narrator: Model | None = None
    report: OnProgress | None = None


class Due(NamedTuple):
    """When a step is due: a description for people and the test itself."""

    description: str
    is_due: Callable[[StepContext], object]


class Report(NamedTuple):
    """The report of a step: keys of the JSON answer, lines for people, and further lines for `--explain`."""

    data: Mapping[str, Any] = {}
    lines: tuple[str, ...] = ()
    details: tuple[str, ...] = ()


class Reporter(NamedTuple):
    """How a step reports: the shape of its JSON keys, and a function of the result (None if the step was not due or
    failed) and of whether `--explain` was given."""

    shape: Mapping[str, Any]
    report: Callable[[Any, bool], Report]


SILENT = Reporter({}, lambda result, explain: Report())
"""The reporter of an internal step."""


def result_problems(result: Any) -> Iterable[tuple[str | None, ClawmemError]]:
    """Return the `problems` of a result, each paired with None, which stands for the name of the step."""
    return ((None, problem) for problem in getattr(result, "problems", ()))


class Step(NamedTuple):
    """A row of the table of steps.

    `run` does the work; its result may have `commit` or `commits`, `notices` and `problems`. `failures` lists
    errors that did not stop the step.
    """

    name: str
    description: str
    due: Due
    run: Callable[[StepContext], Any]
    reporter: Reporter = SILENT
    failures: Callable[[Any], Iterable[tuple[str | None, ClawmemError]]] = result_problems
