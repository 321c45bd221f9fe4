"""`clawmem heartbeat`, and of its steps for one day, `clawmem promote` and `clawmem synthesize`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

from clawmem.errors import DONE, PARTIAL, ClawmemError
from clawmem.faces.parts.command import Answer, Call, Command, Table
from clawmem.faces.parts.parameters import DATE, DRY_RUN, EXPLAIN, MODEL, Parameter
from clawmem.faces.parts.words import commits_made
from clawmem.heartbeat.reports import PROMOTION, promotion_data, promotion_line
from clawmem.heartbeat.steps import all_steps
from clawmem.learning import promote as promotions
from clawmem.llm.choice import Model
from clawmem.memory.pages.memory_page import PATH
from clawmem.model.language.dates import day_of, parse_moment, stamp
from clawmem.model.language.text import counted
from clawmem.model.records.event import cost_line
from clawmem.model.settings.local import suggestion_message
from clawmem.model.settings.settings import EXTRACT, JUDGE, SYNTHESIZE

if TYPE_CHECKING:
    from clawmem.heartbeat.loop import HeartbeatResult
    from clawmem.heartbeat.reports import Report
    from clawmem.learning.promote import PromoteResult


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
    nothing changed; daily notes, summaries, guardrails and MEMORY.md share one. Accesses are counted once a day.
    Exit code 4: only part was done; 13: a limit on the model was reached; 14: the model could not be used. Unread
    events wait for the next run."""
    from clawmem.faces.verbs.hook import take_in_left
    from clawmem.heartbeat.loop import run_heartbeat, step_reports

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
        lines = ["made a commit; `clawmem log --limit 1` shows it" if result.commits else "nothing to do"]
    notices = [f"{before}{notice}" for notice in notices]
    return Answer({**data, "failed": failed}, lines, notices, _exit_code(result), is_report=not dry_run)


def _model(call: Call, task: str, name: str | None, budget_cents: float | None, keep_failure: bool) -> Model | None:
    """The model of a task, by its settings or this name, with this run's budget where one was given."""
    from clawmem.heartbeat.loop import record_failure

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
    from clawmem.heartbeat.loop import due_steps

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


def promote(
    call: Call,
    date: Annotated[str, DATE],
    dry_run: Annotated[bool, DRY_RUN],
    explain: Annotated[bool, EXPLAIN._replace(help="List every candidate with its score and reason.")],
    model: Annotated[str | None, MODEL],
) -> Answer:
    """Facts that are likely to be useful for at least thirty days are marked, get a higher importance and are listed
    first in summaries and MEMORY.md. Facts that need a decision by a person wait in `review list`. The heartbeat runs
    this step every night. Exit code 13: a limit on the model was reached; 14: the model could not be used. In both
    cases the rules scored the remaining facts."""
    from clawmem.heartbeat.queue import PROMOTE, QueueRun, answer_tasks, promotion
    from clawmem.learning.promote import joined_results

    caller = call.runtime.caller()
    vault = call.runtime.vault()
    day = day_of(parse_moment(date, caller.now, "day"))
    judge = call.runtime.model(JUDGE, model)
    asked = answer_tasks(vault, caller, judge, [promotion(day)]) if judge and not dry_run else QueueRun()
    result = joined_results([*asked.of(PROMOTE), promotions.promote(vault, caller, day, dry_run)])
    run = asked.records[0] if asked.records else None
    data = promotion_data(result, explain=True, run=run)
    failed = asked.problem
    notices = [
        *dict.fromkeys((*result.notices, *asked.notices)),
        *(["A dry run calls no model: the rules judged all candidates."] if judge and dry_run else []),
        *suggestion_message(vault.settings, "llm"),
        *([f"{failed.message} The rules judged the rest. {failed.hint}"] if failed else []),
    ]
    lines = [*([cost_line(run)] if run else []), *_promotion_lines(result, dry_run, explain)]
    return Answer(data, lines, notices, failed.exit_code if failed else DONE)


def _promotion_lines(result: PromoteResult, dry_run: bool, explain: bool) -> list[str]:
    lines = [promotion_line(verdict) for verdict in (result.verdicts if explain else [*result.kept, *result.waiting])]
    if result.kept or result.waiting:
        return lines if dry_run or result.commit else [*lines, "nothing was written"]
    words = f"none of {counted(len(result.verdicts), 'candidate')} of {result.on} was promoted"
    lines.append(words if result.verdicts else f"there is no candidate for {result.on}")
    if result.commit:
        return lines
    return [*lines[:-1], f"{lines[-1]}; no commit was made"]


def synthesize(call: Call, date: Annotated[str, DATE], dry_run: Annotated[bool, DRY_RUN]) -> Answer:
    """The generated part of the daily note lists what was learned, corrected and decided that day. The generated part
    of MEMORY.md lists the most important facts. Text by people is not changed. With a model (`llm.model`), the note
    begins with a narrative whose sentences cite facts. Exit code 4: a needed file cannot be parsed, or the model could
    not be used."""
    from clawmem.heartbeat.queue import QueueRun, answer_tasks, narration
    from clawmem.heartbeat.steps import refresh_memory
    from clawmem.learning.synthesize import synthesize as synthesize_act

    vault, caller = call.runtime.vault(), call.runtime.caller()
    day = day_of(parse_moment(date, caller.now, "day"))
    model = None if dry_run else call.runtime.model(SYNTHESIZE)
    asked = answer_tasks(vault, caller, model, [narration(day)]) if model else QueueRun()
    notes = synthesize_act(vault, caller, [day], dry_run=dry_run)
    memory = refresh_memory(vault, caller, dry_run)
    generator = (page for other in asked.of("narrate") for page in other.pages)
    pages = list(dict.fromkeys((*generator, *notes.pages, *([PATH] if memory.changed else []))))
    commits = [*asked.commits, *(text for text in (notes.commit, memory.commit) if text)]
    did = "would rewrite" if dry_run else "rewrote"
    lines = [f"{did} {page}" for page in pages] or ["nothing changed; no commit was made"]
    data = {"date": day, "pages": pages, "commits": commits}
    problems = (*notes.problems, *memory.problems, *([asked.problem] if asked.problem else []))
    left = [f"not changed: {problem.message} {problem.hint}" for problem in dict.fromkeys(problems)]
    notices = list(dict.fromkeys((*asked.notices, *notes.notices, *memory.notices, *left)))
    code = PARTIAL if problems else DONE
    return Answer(data, [*lines, *commits_made(commits)], notices, code)


VERBS = {
    "heartbeat": Command(
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
    ),
    "promote": Command(
        promote,
        PROMOTION,
        ("clawmem promote --date yesterday --dry-run --explain",),
        ("candidates",),
    ),
    "synthesize": Command(
        synthesize,
        {"date": str, "pages": [str], "commits": [str]},
        ("clawmem synthesize --date yesterday",),
    ),
}
