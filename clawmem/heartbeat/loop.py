"""The loop of the heartbeat: each step once, each its own commit; one that fails does not stop the others."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

from clawmem import __version__
from clawmem.errors import ClawmemError, InvalidInput, Locked
from clawmem.heartbeat.step import Report, Run, Step
from clawmem.heartbeat.steps import STEPS, nights_due
from clawmem.index.vectors.embed import needs_embedding
from clawmem.llm.choice import Model
from clawmem.memory.pages.token_counts import count_tokens
from clawmem.memory.permission import check_may_write_at_all
from clawmem.model.language.dates import stamp
from clawmem.model.lifecycle.week import week_began
from clawmem.model.records.caller import Caller
from clawmem.vault.commit.transaction import transaction
from clawmem.vault.edits.scan import HandEdits
from clawmem.vault.state.heartbeat_state import (
    HeartbeatState,
    commits_between,
    heartbeat_lock,
    read_heartbeat_state,
    rotate_log,
    write_heartbeat_state,
)
from clawmem.vault.state.journal import unfolded_accesses
from clawmem.vault.vault import Vault


class Heartbeat(NamedTuple):
    """The result of each step by name (None: not due, or failed), the failures by step, every sentence for the person,
    and the commits made, oldest first."""

    results: Mapping[str, Any] = {}
    failed: tuple[tuple[str, ClawmemError], ...] = ()
    notices: tuple[str, ...] = ()
    commits: tuple[str, ...] = ()

    def of(self, name: str) -> Any:
        """The result of a step."""
        return self.results.get(name)


def beat(
    vault: Vault,
    caller: Caller,
    dry_run: bool = False,
    model: Model | None = None,
    told: Callable[[str], None] | None = None,
    only: Collection[str] = (),
) -> Heartbeat:
    """Run every step that is due once, each named to `told`; nothing to do makes no commit. `only` names the steps to
    run, all where it is empty. Where a model did not read everything, what it left is among the failures, and waits.

    Raises Locked where another heartbeat or writer holds the vault longer than `lock.wait_seconds`, InvalidInput where
    `only` names a step that does not exist.
    """
    steps = chosen(only)
    check_may_write_at_all(vault, caller)
    if dry_run:
        return _run_steps(steps, Run(vault, caller, read_heartbeat_state(vault), model, True, {}), told)
    with heartbeat_lock(vault, vault.settings.number("lock.wait_seconds")):
        rotate_log(vault)
        with transaction(vault, caller.now, "heartbeat") as started:
            edits = started.adopt()
            notices = tuple(started.notices)
        last = read_heartbeat_state(vault)
        run = Run(vault, caller, last, model, False, {})
        if not only and _is_done(run):
            count_tokens(vault)  # a new index of the same commit has none
            return _with_edits(Heartbeat(notices=notices), edits)
        start = vault.head().commit
        done = _run_steps(steps, run, told)
        write_heartbeat_state(vault, _kept(run, done, start, complete=not only))
        return _with_edits(done._replace(notices=tuple(dict.fromkeys((*notices, *done.notices)))), edits)


def chosen(only: Collection[str]) -> tuple[Step, ...]:
    """The steps of these names in their order, all where none is named; InvalidInput where there is none of a name."""
    names = [step.name for step in STEPS]
    unknown = next((name for name in only if name not in names), None)
    if unknown is not None:
        raise InvalidInput(f"The heartbeat has no step '{unknown}'.", f"Its steps are {', '.join(names)}.")
    return tuple(step for step in STEPS if not only or step.name in only)


def due_steps(vault: Vault, caller: Caller) -> tuple[tuple[Step, bool], ...]:
    """Every step, and whether it is due now; a step that waits for the result of another is not."""
    run = Run(vault, caller, read_heartbeat_state(vault), None, False, {})
    return tuple((step, bool(step.due.test(run))) for step in STEPS)


def reports(done: Heartbeat, explain: bool) -> tuple[Report, ...]:
    """What each step reports, in their order."""
    return tuple(step.report(done.of(step.name), explain) for step in STEPS)


def _with_edits(done: Heartbeat, edits: HandEdits) -> Heartbeat:
    """The beat with the edits made by hand that it could not take in among its failures, and in no aside."""
    left = {f"left alone: {problem}" for _, problem in edits.bad}
    failed = tuple(("edits", problem) for _, problem in edits.bad)
    notices = tuple(one for one in done.notices if one not in left)
    return done._replace(failed=(*failed, *done.failed), notices=notices)


def _run_steps(steps: tuple[Step, ...], run: Run, told: Callable[[str], None] | None) -> Heartbeat:
    """Run the steps one after the other; once another writer holds the vault, the rest is not waited for."""
    results: dict[str, Any] = {}
    failed: list[tuple[str, ClawmemError]] = []
    commits: list[str] = []
    notices: dict[str, None] = {}
    locked: Locked | None = None
    for step in steps:
        now = run._replace(results=results)
        if not step.due.test(now):
            continue
        if locked is not None:
            failed.append((step.name, locked))
            continue
        if told:
            told(f"heartbeat: {step.name}")
        try:
            done = results[step.name] = step.act(now)
        except ClawmemError as problem:
            failed.append((step.name, problem))
            locked = problem if isinstance(problem, Locked) else None
            continue
        commits += _commits(done)
        notices.update(dict.fromkeys(getattr(done, "notices", ())))
        failed += [(name or step.name, problem) for name, problem in step.failures(done)]
    return Heartbeat(results, tuple(failed), tuple(notices), tuple(commits))


def _commits(done: Any) -> Sequence[str]:
    """The commits of a step's result: several, one, or none."""
    several = getattr(done, "commits", None)
    if isinstance(several, tuple):
        return several
    one = getattr(done, "commit", None)
    return [one] if one else []


def _week(vault: Vault, caller: Caller) -> str:
    settings = vault.settings
    return stamp(week_began(caller.now, settings.words("summary.weekly_day"), settings.whole("summary.weekly_hour")))


def _is_done(run: Run) -> bool:
    """Whether nothing changed since the last complete heartbeat: no commit, no use, no new day, week or night."""
    vault, last = run.vault, run.last
    return (
        last.head is not None
        and last.head == vault.head().commit
        and last.made == __version__
        and last.day == stamp(run.caller.now)[:10]
        and last.week == _week(vault, run.caller)
        and not nights_due(run)
        and not unfolded_accesses(vault)
        and not needs_embedding(vault)
    )


def _kept(run: Run, done: Heartbeat, start: str | None, complete: bool) -> HeartbeatState:
    """What to remember of this heartbeat. It counts as complete where every step was asked for, nothing failed and
    nobody else wrote meanwhile."""
    vault, last = run.vault, run.last
    failed = {name for name, _ in done.failed}
    nights = done.of("promote")
    promoted = nights.nights[-1].on if nights and nights.nights and not failed & {"adapt", "promote"} else last.promoted
    head = vault.head().commit
    between = commits_between(vault, start, head) if start and head and start != head else frozenset()
    if failed or not complete or between is None or not between <= set(done.commits):
        return last._replace(promoted=promoted)
    return HeartbeatState(head, __version__, stamp(run.caller.now)[:10], _week(vault, run.caller), promoted)
