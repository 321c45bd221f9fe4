"""`clawmem heartbeat`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from clawmem.errors import DONE, PARTIAL, ClawmemError
from clawmem.faces.parts.command import Answer, Call, Command, Table
from clawmem.faces.parts.parameters import DRY_RUN, EXPLAIN, MODEL, Parameter
from clawmem.faces.parts.words import commits_made
from clawmem.faces.verbs.hook import take_in_left
from clawmem.heartbeat.loop import HeartbeatResult, due_steps, record_failure, run_heartbeat, step_reports
from clawmem.heartbeat.reports import Report
from clawmem.heartbeat.steps import all_steps
from clawmem.llm.choice import Model
from clawmem.model.language.dates import stamp
from clawmem.model.settings.local import suggestion_message
from clawmem.model.settings.settings import EXTRACT, JUDGE, SYNTHESIZE


def heartbeat(
    call: Call,
    dry_run: Annotated[bool, DRY_RUN],
    explain: Annotated[bool, EXPLAIN],
    budget_cents: Annotated[
        float | None, Parameter("The maximum cost of the model in this run, in cents.", ("--budget-cents",), least=0)
    ],
    model: Annotated[str | None, MODEL],
    stamped: Annotated[bool, Parameter("Start each line with the time, for a log file.", ("--stamped",))],
    only: Annotated[
        list[str] | None,
        Parameter(
            "Run only this step; may be repeated.",
            ("--only",),
            metavar="STEP",
            choices={step.name: step.description for step in all_steps()},
        ),
    ],
    list_steps: Annotated[bool, Parameter("List the steps and when each is due.", ("--list",))],
) -> Answer:
    """The heartbeat takes in the transcripts of sessions that nobody ended, commits hand edits, finds the triples of
    facts that have none, learns from new events and daily notes, counts accesses, archives unused facts, writes daily
    notes, promotes facts of the day before, and updates summaries and MEMORY.md. Each step makes one commit, or none if
    nothing changed. Exit code 4: only part was done; 13: a limit on the model was reached; 14: the model could not be
    used. Unread events wait for the next run."""
    if list_steps:
        return _steps(call)
    caller = call.runtime.caller()
    before = f"{stamp(caller.now)} " if stamped else ""
    try:
        vault = call.runtime.vault()
        if not dry_run and not only:
            take_in_left(call, vault)
        with call.progress() as report:
            models = [_model(call, task, model, budget_cents, not dry_run) for task in (EXTRACT, JUDGE, SYNTHESIZE)]
            result = run_heartbeat(vault, caller, dry_run, models[0], report, only or (), models[1], models[2])
    except ClawmemError as problem:
        if stamped:
            problem.add_note(f"{before}the heartbeat did not run")
        raise
    notices = [
        *result.notices,
        *suggestion_message(vault.settings, "llm"),
        *(f"{name} failed: {problem.message} {problem.hint}" for name, problem in result.failed),
    ]
    reports = step_reports(result, explain)
    failed = [{"act": name, "code": problem.code, "message": problem.message} for name, problem in result.failed]
    data = {
        "commits": list(result.commits),
        **{key: value for other_report in reports for key, value in other_report.data.items()},
    }
    lines = [f"{before}{line}" for line in _lines(result, reports, dry_run, explain)]
    if not (lines or result.failed or stamped):  # a log file does not grow by runs that did nothing
        lines = ["nothing to do"]
    notices = [f"{before}{notice}" for notice in notices]
    return Answer({**data, "failed": failed}, lines, notices, _exit_code(result), is_report=not dry_run)


def _model(call: Call, task: str, name: str | None, budget_cents: float | None, keep_failure: bool) -> Model | None:
    """The model of a task, by its settings or this name, with this run's budget where one was given."""
    try:
        model = call.runtime.model(task, name)
    except ClawmemError as problem:
        if keep_failure:
            record_failure(call.runtime.vault(), call.runtime.caller(), problem)
        raise
    if model is None or budget_cents is None:
        return model
    return model._replace(limits=model.limits._replace(cents=budget_cents))


def _exit_code(result: HeartbeatResult) -> int:
    """The exit code of the model if only the model failed; PARTIAL for any other failure."""
    codes = {problem.exit_code if name == "model" else PARTIAL for name, problem in result.failed}
    return DONE if not codes else codes.pop() if len(codes) == 1 else PARTIAL


def _steps(call: Call) -> Answer:
    steps = due_steps(call.runtime.vault(), call.runtime.caller())
    data = [
        {"name": step.name, "about": step.description, "when": step.due.description, "due": due} for step, due in steps
    ]
    rows = [(step.name, "due" if due else "not due", step.due.description, step.description) for step, due in steps]
    return Answer({"steps": data}, Table(("step", "now", "when", "about"), rows))


def _lines(result: HeartbeatResult, reports: Sequence[Report], dry_run: bool, explain: bool) -> list[str]:
    lines = [line for report in reports for line in report.lines]
    lines += [line for report in reports for line in report.details] if explain else []
    if dry_run:
        return ["dry run; these changes would be made:", *lines] if lines else ["nothing would change"]
    return lines + commits_made(result.commits)


VERB = Command(
    heartbeat,
    (
        {
            "commits": [str],
            **{key: shape for step in all_steps() for key, shape in step.reporter.shape.items()},
            "failed": [{"act": str, "code": str, "message": str}],
        },
        {"steps": [{"name": str, "about": str, "when": str, "due": bool}]},
    ),
    ("clawmem heartbeat --quiet", "clawmem heartbeat --dry-run --explain", "clawmem heartbeat --only summaries"),
    ("steps",),
)
