"""`clawmem heartbeat`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import typer

from clawmem.cli.face import Face
from clawmem.errors import DONE, PARTIAL, ClawmemError
from clawmem.heartbeat.loop import Heartbeat, beat, due_steps, reports
from clawmem.heartbeat.step import Report
from clawmem.llm.choice import Model
from clawmem.model.language.dates import stamp
from clawmem.model.records.caller import Caller
from clawmem.model.settings.local import suggestion_message


def heartbeat(
    ctx: typer.Context,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be done, write nothing.")] = False,
    explain: Annotated[bool, typer.Option("--explain", help="List every candidate with its verdict.")] = False,
    budget_cents: Annotated[
        float | None, typer.Option("--budget-cents", min=0, help="The most this run of a model may cost, in cents.")
    ] = None,
    stamped: Annotated[bool, typer.Option("--stamped", help="Begin each line with the time, for a log.")] = False,
    only: Annotated[
        list[str] | None, typer.Option("--only", metavar="STEP", help="Run this step; may be repeated.")
    ] = None,
    list_steps: Annotated[bool, typer.Option("--list", help="List the steps and when each is due.")] = False,
) -> int:
    """Takes in edits made by hand, reads what facts given without a triple say, learns from new events and daily
    notes, folds accesses, archives what has decayed, writes daily notes, promotes what the day before taught, refreshes
    summaries and MEMORY.md. One commit for each; none where nothing changed. Exit code 4: only part was done; 13: a
    limit on the model was reached; 14: the model could not be used. What it did not read waits for the next run."""
    face = Face.of(ctx)
    caller = face.runtime.caller()
    if list_steps:
        return _list(face, caller)
    before = f"{stamp(caller.now)} " if stamped else ""
    try:
        with face.progress() as told:
            done = beat(face.runtime.vault(), caller, dry_run, _model(face, budget_cents), told, only or ())
    except ClawmemError:
        if stamped:
            face.notice(f"{before}the heartbeat did not run")
        raise
    notices = [
        *done.notices,
        *suggestion_message(face.runtime.vault().settings, "llm", "semantic"),
        *(f"{name} failed: {problem.message} {problem.hint}" for name, problem in done.failed),
    ]
    told_of = reports(done, explain)
    failed = [{"act": name, "code": problem.code, "message": problem.message} for name, problem in done.failed]
    data = {"commits": list(done.commits), **{key: value for one in told_of for key, value in one.data.items()}}
    lines = [f"{before}{line}" for line in _lines(done, told_of, dry_run, explain)]
    return face.done({**data, "failed": failed}, lines, [f"{before}{each}" for each in notices], _exit_code(done))


def _model(face: Face, budget_cents: float | None) -> Model | None:
    """The model of the settings, with this run's budget where one was given."""
    model = face.runtime.model()
    if model is None or budget_cents is None:
        return model
    return model._replace(limits=model.limits._replace(cents=budget_cents))


def _exit_code(done: Heartbeat) -> int:
    """What a model left undone says why it did; any other failure that only part was done."""
    codes = {problem.exit_code if name == "model" else PARTIAL for name, problem in done.failed}
    return DONE if not codes else codes.pop() if len(codes) == 1 else PARTIAL


def _list(face: Face, caller: Caller) -> int:
    steps = due_steps(face.runtime.vault(), caller)
    data = [{"name": one.name, "about": one.about, "when": one.due.words, "due": due} for one, due in steps]
    rows = [(one.name, "due" if due else "not due", one.due.words, one.about) for one, due in steps]
    return face.done({"steps": data}, face.table(("step", "now", "when", "about"), rows))


def _lines(done: Heartbeat, told_of: Sequence[Report], dry_run: bool, explain: bool) -> list[str]:
    lines = [line for one in told_of for line in one.lines]
    lines += [line for one in told_of for line in one.details] if explain else []
    if dry_run:
        return ["this would be done:", *lines] if lines else ["nothing would change"]
    return lines + [f"commit {name[:12]}" for name in done.commits]
