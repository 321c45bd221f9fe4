"""The suites and runs of a vault: find and list suites, keep runs, find earlier ones."""

from __future__ import annotations

from typing import NamedTuple

from clawmem.errors import AmbiguousId, ClawmemError, IncompleteAnswer, InvalidInput, NotFound, UnreadableKey
from clawmem.extensions.governance.suites.eval_run import PASSED, RUNS_PATH, EvalRun, parse_eval_runs
from clawmem.extensions.governance.suites.suite import FOLDER, Suite, is_suite_id, parse_suite, suite_path
from clawmem.extensions.governance.suites.world import GENERATED, generated_suite
from clawmem.memory.writing import writing
from clawmem.model.forms import render_lines
from clawmem.model.language.text import counted
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change, agent_author, subject_line, trailers
from clawmem.vault.strict_yaml import parse_yaml, with_line
from clawmem.vault.vault import Vault


class SuiteList(NamedTuple):
    """The readable suites by id, those that clawmem contains included, and a notice for each unreadable file."""

    suites: tuple[Suite, ...]
    notices: tuple[str, ...] = ()


def list_suites(vault: Vault) -> SuiteList:
    """Return all suites, in the order of their ids."""
    found, notices = [], []
    for name in suite_names(vault):
        try:
            found.append(find_suite(vault, name))
        except ClawmemError as problem:
            notices.append(IncompleteAnswer(problem.message))
    return SuiteList(tuple(found), tuple(notices))


def find_suite(vault: Vault, name: str) -> Suite:
    """Return a suite: the file of the vault, else the suite of that name in clawmem. Raise NotFound or Unreadable,
    which names line and key."""
    if not is_suite_id(name):
        raise InvalidInput(f"'{name}' is not the id of a suite.", "Use lower-case letters, digits, - and _.")
    path = suite_path(name)
    data = vault.read(path)
    if data is not None:
        return read_suite(data, path)
    if name in GENERATED:
        return generated_suite(name)
    raise NotFound(
        f"There is no suite '{name}'.", f"The suites are: {', '.join(suite_names(vault))}. A new one is a file {path}."
    )


def read_suite(data: bytes, path: str) -> Suite:
    """Return the suite in a file. Raise Unreadable, which names line and key."""
    try:
        return parse_suite(data, path, parse_yaml)
    except UnreadableKey as problem:
        raise with_line(problem, data) from None


def eval_runs(vault: Vault) -> tuple[EvalRun, ...]:
    """Return the runs, oldest first. Raise Unreadable, which names the line."""
    data = vault.read(RUNS_PATH)
    return () if data is None else parse_eval_runs(data, RUNS_PATH, parse_yaml)


def last_run(vault: Vault, suite: str) -> EvalRun | None:
    """Return the last run of a suite, or None."""
    return next((eval_run for eval_run in reversed(eval_runs(vault)) if eval_run.suite == suite), None)


def find_run(vault: Vault, reference: str) -> EvalRun:
    """Return a run by its id or a unique prefix, or the last run of the suite with this name. Raise NotFound."""
    runs = eval_runs(vault)
    found = [run for run in runs if run.id.startswith(reference)] if reference else []
    if len(found) > 1:
        raise AmbiguousId(reference, [run.id for run in found])
    found = found or [run for run in runs if run.suite == reference][-1:]
    if not found:
        raise NotFound(
            f"There is no run '{reference}'.",
            "`clawmem eval list` shows the last run of each suite, and `clawmem eval run` makes one.",
        )
    return found[0]


def keep_run(vault: Vault, caller: Caller, run: EvalRun) -> str:
    """Append a run to the runs of the vault. Return the commit."""
    with writing(vault, caller, "eval") as work:
        # A file that cannot be read is not extended: the run before it could be misread.
        parse_eval_runs(work.read(RUNS_PATH) or b"", RUNS_PATH, parse_yaml)
        passed = sum(score.outcome == PASSED for score in run.scores)
        words = f"{run.id}, {passed} of {counted(len(run.scores), 'test')} passed"
        change = Change(
            subject_line("eval", run.suite, words),
            {RUNS_PATH: (work.read(RUNS_PATH) or b"") + render_lines([run])},
            trailers("eval", agent=caller.agent, session=caller.session),
            author=agent_author(caller.agent),
        )
        return work.commit([change])[-1]


def suite_names(vault: Vault) -> list[str]:
    """Return the ids of the suites of the vault and of clawmem, in order."""
    return sorted({*GENERATED, *(path.stem for path in (vault.root / FOLDER).glob("*.yaml"))})
