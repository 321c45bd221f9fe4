"""The heartbeat loop: it runs each step that is due once. A step that fails does not stop the others."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from functools import partial
from itertools import groupby
from typing import Any, NamedTuple

from clawmem import __version__
from clawmem.errors import ClawmemError, InvalidInput, Locked
from clawmem.heartbeat.reports import Report, Step, StepContext, commits_of, nights_due
from clawmem.heartbeat.steps import SYNC, all_steps
from clawmem.index.vectors.embed import needs_embedding
from clawmem.learning.reconciling.round_state import KEPT
from clawmem.llm.choice import Model
from clawmem.memory.health.repair import restore_left_alone
from clawmem.memory.pages.summaries import count_tokens
from clawmem.memory.permission import check_not_read_only
from clawmem.memory.scope import WriteScope
from clawmem.memory.writing import writing
from clawmem.model.language.dates import stamp, week_began
from clawmem.model.language.text import some_of
from clawmem.model.progress import OnProgress, Progress, amount_of
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change, subject_line, trailers
from clawmem.model.safety.secrets.find import redact
from clawmem.vault.commit.transaction import transaction
from clawmem.vault.state.heartbeat_state import (
    HeartbeatRun,
    HeartbeatState,
    StepFailure,
    commits_between,
    heartbeat_lock,
    read_heartbeat_state,
    rotate_log,
    write_heartbeat_state,
    write_last_run,
)
from clawmem.vault.vault import Vault
from clawmem.vault.work_tree import HandEdits


class HeartbeatResult(NamedTuple):
    """The result of one heartbeat.

    `results` maps a step's name to its result; a step that was not due or failed is missing. `failed` pairs a step's
    name with its error. `commits` lists the commits made, oldest first.
    """

    results: Mapping[str, Any] = {}
    failed: tuple[tuple[str, ClawmemError], ...] = ()
    notices: tuple[str, ...] = ()
    commits: tuple[str, ...] = ()

    def of(self, name: str) -> Any:
        """Return the result of a step, or None if it was not due or failed."""
        return self.results.get(name)


def run_heartbeat(
    vault: Vault,
    caller: Caller,
    dry_run: bool = False,
    model: Model | None = None,
    report: OnProgress | None = None,
    only: Collection[str] = (),
    judge: Model | None = None,
    narrator: Model | None = None,
    wait: float | None = None,
) -> HeartbeatResult:
    """Run every step that is due once. No commit is made if there is nothing to do.

    `model` reads events, `judge` judges facts for promotion (None: the rules do), and `narrator` writes the narratives
    of days (None: there are none). `report` gets how far the run is. `only` limits the run to the steps
    with these names. If a model did not read every event, the reason is among the failures and the unread events wait
    for the next run.

    Raise Locked if another heartbeat runs longer than `wait` seconds, or if another writer holds the vault longer than
    `lock.wait_seconds`, which is the default for both. Raise InvalidInput if `only` names an unknown step.
    """
    steps = choose_steps(only)
    caller = caller._replace(unattended=True)
    check_not_read_only(vault, caller)
    run = StepContext(vault, caller, HeartbeatState(), model, dry_run, {}, judge, narrator)
    if dry_run:
        return _run_steps(steps, run._replace(last=read_heartbeat_state(vault)), report)
    try:
        with heartbeat_lock(vault, vault.settings.number("lock.wait_seconds") if wait is None else wait):
            result = _run_locked(steps, run, report, complete=not only)
            write_last_run(vault, _last_run(caller, result))
            return result
    except ClawmemError as problem:
        record_failure(vault, caller, problem)
        raise
    except Exception as problem:
        # The error that is reported is this one, also where the disk takes no record of it.
        with suppress(OSError, ClawmemError):
            record_failure(vault, caller, ClawmemError(f"{type(problem).__name__}: {redact(str(problem))}."))
        raise


def record_failure(vault: Vault, caller: Caller, problem: ClawmemError) -> None:
    """Store that a heartbeat did not start or stopped, and why, for `status` and `doctor`."""
    failure = StepFailure("", problem.code, problem.message, problem.hint)
    write_last_run(vault, HeartbeatRun(stamp(caller.now), failed=(failure,)))


def _run_locked(
    steps: tuple[Step, ...], run: StepContext, report: OnProgress | None, complete: bool
) -> HeartbeatResult:
    vault, caller = run.vault, run.caller
    rotate_log(vault)
    # A schedule finds the edits of people; in the shell of an agent they may be its own.
    finder = caller._replace(unattended=False) if caller.shell else None
    with transaction(vault, caller.now, "heartbeat", caller=finder) as started:
        edits = started.adopt()
        notices = tuple(started.notices)
    restored = restore_left_alone(vault, caller, edits)
    edits = edits._replace(bad=tuple(pair for pair in edits.bad if pair[0] not in restored.paths))
    left = [f"left alone: {problem}" for path, problem in edits.bad]
    notices = (
        *(notice for notice in notices if not notice.startswith("left alone") or notice in left),
        *restored.notices,
    )
    run = run._replace(last=read_heartbeat_state(vault))
    if complete and _is_up_to_date(run):
        count_tokens(vault)  # a rebuilt index has no token counts
        # Other machines may have something. The next heartbeat reads it.
        steps = tuple(step for step in steps if step.name == SYNC)
    start = vault.head().commit
    result = _run_steps(steps, run, report)
    write_heartbeat_state(vault, _next_state(run, result, start, complete))
    return _with_edits(result._replace(notices=tuple(dict.fromkeys((*notices, *result.notices)))), edits)


def _last_run(caller: Caller, result: HeartbeatResult) -> HeartbeatRun:
    learned = result.of("learn")
    failed = tuple(StepFailure(name, error.code, error.message, error.hint) for name, error in result.failed)
    if learned is None:
        return HeartbeatRun(stamp(caller.now), commits=len(result.commits), failed=failed)
    facts = sum(learned.count(outcome) for outcome in KEPT)
    return HeartbeatRun(stamp(caller.now), learned.events, learned.taught_nothing, facts, len(result.commits), failed)


def choose_steps(only: Collection[str]) -> tuple[Step, ...]:
    """Return the steps with these names in table order, or all steps if `only` is empty.

    Raise InvalidInput for an unknown name.
    """
    names = [step.name for step in all_steps()]
    unknown = next((name for name in only if name not in names), None)
    if unknown is not None:
        raise InvalidInput(f"The heartbeat has no step '{unknown}'.", f"Its steps are {', '.join(names)}.")
    return tuple(step for step in all_steps() if not only or step.name in only)


def due_steps(vault: Vault, caller: Caller) -> tuple[tuple[Step, bool], ...]:
    """Return every step and whether it is due now. A step that needs the result of another step is not due."""
    run = StepContext(vault, caller, read_heartbeat_state(vault), None, False, {})
    return tuple((step, bool(step.due.is_due(run))) for step in all_steps())


def step_reports(result: HeartbeatResult, explain: bool) -> tuple[Report, ...]:
    """Return the report of each step, in table order."""
    return tuple(step.reporter.report(result.of(step.name), explain) for step in all_steps())


def _with_edits(result: HeartbeatResult, edits: HandEdits) -> HeartbeatResult:
    """Move manual edits that could not be adopted from the notices to the failures."""
    left = {f"left alone: {problem}" for _, problem in edits.bad}
    failed = tuple(("edits", problem) for _, problem in edits.bad)
    notices = tuple(notice for notice in result.notices if notice not in left)
    return result._replace(failed=(*failed, *result.failed), notices=notices)


def _run_steps(steps: tuple[Step, ...], run: StepContext, report: OnProgress | None) -> HeartbeatResult:
    """Run the steps in order. If another writer holds the vault, fail the remaining steps without waiting again."""
    results: dict[str, Any] = {}
    failed: list[tuple[str, ClawmemError]] = []
    commits: list[str] = []
    notices: dict[str, None] = {}
    locked: Locked | None = None
    names = [step.name for step in steps]

    def report_part(name: str, inner: Progress) -> None:
        """Report what an act reports of itself as a part of the whole."""
        if report is not None:
            words = ", ".join(filter(None, (name, amount_of(inner))))
            report(Progress("heartbeat", names.index(name), len(names), now=words))

    def run_step(step: Step, pages: WriteScope | None) -> None:
        nonlocal locked
        now = run._replace(results=results, report=partial(report_part, step.name), pages=pages)
        if not step.due.is_due(now):
            return
        if locked is not None:
            failed.append((step.name, locked))
            return
        report_part(step.name, Progress(""))
        try:
            result = results[step.name] = step.run(now)
        except ClawmemError as problem:
            failed.append((step.name, problem))
            locked = problem if isinstance(problem, Locked) else None
            return
        commits.extend(commits_of(result))
        notices.update(dict.fromkeys(getattr(result, "notices", ())))
        failed.extend((name or step.name, problem) for name, problem in step.failures(result))

    for shares, group in groupby(steps, lambda step: step.shares and not run.dry_run):
        waiting = iter([*group])
        try:
            with _shared_commit(run, commits) if shares and locked is None else nullcontext() as pages:
                for step in waiting:
                    run_step(step, pages)
        except ClawmemError as problem:
            locked = problem if isinstance(problem, Locked) else None
            failed += [(step.name, problem) for step in waiting] or [(step.name, problem)]
    return HeartbeatResult(results, tuple(failed), tuple(notices), tuple(commits))


_PAGES = {"daily": "daily notes", "life": "summaries"}


@contextmanager
def _shared_commit(run: StepContext, commits: list[str]) -> Iterator[WriteScope]:
    """Open a write scope whose pages become one commit at the end, which is added to `commits`."""
    with writing(run.vault, run.caller, "summaries") as pages:
        changes = pages.joined = list[Change]()
        yield pages
        if changes:
            writes = {path: data for change in changes for path, data in change.writes.items()}
            names = dict.fromkeys(_PAGES.get(path.partition("/")[0], path) for path in writes)
            rows = dict.fromkeys(row for change in changes for row in change.trailers if row[0] != "Clawmem-Op")
            subject = subject_line("summarise", "pages", some_of([*names]))
            commits += pages.commit([Change(subject, writes, (*trailers("summarise"), *rows))])


def _week(vault: Vault, caller: Caller) -> str:
    return stamp(week_began(caller.now))


def _is_up_to_date(run: StepContext) -> bool:
    """Return whether nothing changed since the last complete heartbeat: no commit, new day, week or night.

    Accesses wait for the next day: a vault that is only read gets one commit a day."""
    vault, last = run.vault, run.last
    return (
        last.head is not None
        and last.head == vault.head().commit
        and last.made == __version__
        and last.read_by == run.read_by
        and last.day == stamp(run.caller.now)[:10]
        and last.week == _week(vault, run.caller)
        and not nights_due(run)
        and not needs_embedding(vault)
    )


def _next_state(run: StepContext, result: HeartbeatResult, start: str | None, complete: bool) -> HeartbeatState:
    """Return the state to store. A heartbeat is complete if all steps were requested, none failed, and no other
    process wrote during the run."""
    vault, last = run.vault, run.last
    failed = {name for name, _ in result.failed}
    # A night whose promotion failed is due again; one that a reader judged before its hour is still due.
    promoted = nights_due(run)[-1] if result.of("promote") and not failed & {"adapt", "promote"} else last.promoted
    head = vault.head().commit
    between = commits_between(vault, start, head) if start and head and start != head else frozenset()
    if failed or not complete or between is None or not between <= set(result.commits):
        return last._replace(promoted=promoted)
    day = stamp(run.caller.now)[:10]
    return HeartbeatState(head, __version__, day, _week(vault, run.caller), promoted, run.read_by)
