"""Doctor: every file of the vault read, every rule checked, and with `fix` what is safe to mend mended."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from typing import NamedTuple

from clawmem.errors import ClawmemError
from clawmem.memory.checks.derived import expected_at_head, index_problems
from clawmem.memory.checks.problem import ERROR, Problem, in_order
from clawmem.memory.checks.reading import Reading, read_vault
from clawmem.memory.checks.repository import fsck_problems, repository_problems, state_problems, waiting_problems
from clawmem.memory.checks.tree import tree_problems
from clawmem.memory.mend import mend
from clawmem.model.caller import Caller
from clawmem.vault.hand_edits import finish_scan, start_scan
from clawmem.vault.lock import writer_lock
from clawmem.vault.vault import Vault

_WAIT_SECONDS = 10.0
_BREAKS_INDEX = ("settings", "git", "ledger")


class Diagnosis(NamedTuple):
    """The problems, worst first, those mended marked as fixed; how much was checked; the commits that mended."""

    problems: tuple[Problem, ...]
    checked: Mapping[str, int]
    commits: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()

    def count(self, severity: str) -> int:
        """How many problems of a severity remain."""
        return sum(1 for one in self.problems if one.severity == severity and not one.fixed)

    @property
    def healthy(self) -> bool:
        """Whether no error remains."""
        return self.count(ERROR) == 0


def doctor(vault: Vault, caller: Caller, *, fix: bool = False, full: bool = False) -> Diagnosis:
    """Check the vault; `full` has git check every object, too. With `fix` the vault is checked again after
    mending, so that a problem counts as fixed only where it is gone."""
    before = _examined(vault, full)
    if not fix or not any(one.fixable for one in before.problems):
        return before
    commits, notices = mend(vault, caller, before.problems)
    after = _examined(Vault(vault.root, vault.git.environment, vault.disk), full)
    left = {_key(one) for one in after.problems}
    fixed = [one._replace(fixed=True) for one in before.problems if one.fixable and _key(one) not in left]
    return Diagnosis(in_order([*fixed, *after.problems]), after.checked, commits, (*before.notices, *notices))


def _key(problem: Problem) -> tuple[str, str | None, str]:
    return problem.check, problem.path, problem.message


def _examined(vault: Vault, full: bool) -> Diagnosis:
    notices: list[str] = []
    with ExitStack() as held:
        # One state of the vault is read: no writer comes between its files.
        try:
            vault.prepare_state()
            held.enter_context(writer_lock(vault.state / "lock", _WAIT_SECONDS, "doctor"))
        except OSError as problem:
            notices.append(f"the vault cannot be written, so it was read without its lock: {problem.strerror}")
        reading = read_vault(vault)
        problems = [*tree_problems(vault, reading.tree), *reading.problems, *_git_problems(vault, reading)]
    if full:
        problems += fsck_problems(vault)
    return Diagnosis(in_order(problems), reading.checked, (), tuple(notices))


def _git_problems(vault: Vault, reading: Reading) -> Iterator[Problem]:
    standing = list(repository_problems(vault))
    yield from standing
    if any(one.path == ".git/HEAD" and "not a git folder" in one.message for one in standing):
        return
    yield from state_problems(vault)
    try:
        waiting = finish_scan(vault, start_scan(vault))
    except ClawmemError as problem:
        yield Problem(ERROR, "git", ".git", None, problem.message)
        return
    yield from waiting_problems(waiting)
    if any(one.severity == ERROR and one.check in _BREAKS_INDEX for one in [*reading.problems, *standing]):
        return
    committed = [one for one in reading.facts if one.path not in reading.broken]
    expected = expected_at_head(vault, committed, reading.event_paths, reading.tree.owned, waiting)
    yield from index_problems(vault, expected)
