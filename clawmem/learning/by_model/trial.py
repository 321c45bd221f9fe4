"""Try a model with one short question: whether it answers, at which price, and with JSON as asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from clawmem.errors import BudgetSpent, ClawmemError, ModelFailed
from clawmem.learning.by_model.telemetry import (
    add_event,
    model_run,
    model_runs,
    spent_in,
    trial_event,
)
from clawmem.llm.budget import Account, Prices
from clawmem.llm.choice import Model
from clawmem.llm.client import check_model, prices_of
from clawmem.llm.loop import ask
from clawmem.llm.prompts import prompt
from clawmem.memory.writing import writing
from clawmem.model.language.dates import day_of, stamp
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change, subject_line, trailers
from clawmem.vault.vault import Vault

SCHEMA: Mapping[str, Any] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["works"],
    "properties": {"works": {"type": "boolean"}},
}


class TrialResult(NamedTuple):
    """What a model did with one short question.

    `reachable` says whether any answer came, `json` whether it was as asked. `prices` is None if they are not known.
    `run` is the record of the run, None if nothing was called. `problem` is why the model cannot be used, or None.
    """

    model: str
    reachable: bool
    json: bool
    prices: Prices | None
    run: Mapping[str, Any] | None
    problem: ClawmemError | None
    commit: str | None
    notices: tuple[str, ...] = ()


def try_model(vault: Vault, caller: Caller, model: Model) -> TrialResult:
    """Ask the model once. Its cost counts towards the day's limit: a call that cost something leaves an event."""
    model = model._replace(limits=model.limits._replace(retries=0))
    runs = model_runs(vault.read, day_of(stamp(caller.now)))
    account = Account(model.limits, None, spent_in(runs))
    reachable = False
    problem: ClawmemError | None = None
    try:
        check_model(model)
        account.prices = prices_of(model)
        answer = ask(model, account, [{"role": "user", "content": prompt("trial")}], SCHEMA)
        reachable = True
        if answer.value is None:
            problem = ModelFailed(
                f"The model {model.name} answered, but not with the JSON that was asked for. {answer.problem}",
                "Try another model, or change `llm.output`.",
            )
    except (BudgetSpent, ModelFailed) as failure:
        problem = _only_tried(failure)
    event = trial_event(
        caller, model.name, account.spent, account.prices is not None, problem.code if problem else "done"
    )
    commit: str | None = None
    notices: tuple[str, ...] = ()
    if account.spent.prompt_tokens or account.spent.cents:
        with writing(vault, caller, "llm") as work:
            subject = subject_line("llm", "test", model.name)
            commit = work.commit([add_event(Change(subject, {}, trailers("llm")), event, work.read)])[-1]
            notices = tuple(work.notices)
    run = model_run(event) if account.spent.calls else None
    return TrialResult(model.name, reachable, problem is None, account.prices, run, problem, commit, notices)


def _only_tried(failure: BudgetSpent | ModelFailed) -> ClawmemError:
    """Return the failure without advice about events, as none was read."""
    about_events = "the events" in failure.hint or "next run" in failure.hint
    kind = BudgetSpent if isinstance(failure, BudgetSpent) else ModelFailed
    return kind(failure.message, "" if about_events else failure.hint)
