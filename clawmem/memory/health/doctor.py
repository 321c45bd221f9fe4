"""Doctor: every file of the vault read, every rule checked, and with `fix` what is safe to mend mended."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import ExitStack
from typing import NamedTuple

from clawmem.errors import ClawmemError
from clawmem.memory.health.checks.derived import expected_at_head, index_problems
from clawmem.memory.health.checks.local_settings import own_settings_problems
from clawmem.memory.health.checks.merging import merging_problems
from clawmem.memory.health.checks.problem import ERROR, INFO, HealthProblem, in_order
from clawmem.memory.health.checks.reading import VaultContent, read_vault, reading_problems
from clawmem.memory.health.checks.redactions import old_history_problems, redaction_problems
from clawmem.memory.health.checks.repository import fsck_problems, repository_problems, state_problems, waiting_problems
from clawmem.memory.health.checks.secrets import SECONDS, SecretSearch, files_to_search
from clawmem.memory.health.checks.storage import (
    altered_problems,
    branch_problems,
    clock_problems,
    clone_problems,
    committed_name_problems,
    git_index_problems,
    lost_problems,
)
from clawmem.memory.health.checks.tree import case_problems, tree_problems
from clawmem.memory.health.checks.withdrawn import withdrawn_problems
from clawmem.memory.health.repair import mend
from clawmem.model.records.caller import Caller
from clawmem.vault.commit.integrity import altered_files, head_blobs, lost_files
from clawmem.vault.edits.hand_edits import check_edits
from clawmem.vault.edits.last_readable import unreadable_files
from clawmem.vault.edits.scan import finish_scan, start_scan
from clawmem.vault.lock import writer_lock
from clawmem.vault.vault import Vault

_WAIT_SECONDS = 10.0
_BREAKS_INDEX = ("settings", "git", "ledger")


class Diagnosis(NamedTuple):
    """The problems, worst first, those mended marked as fixed; how much was checked; the commits that mended."""

    problems: tuple[HealthProblem, ...]
    checked: Mapping[str, int]
    commits: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()

    def left(self, severity: str) -> int:
        """How many problems of a severity remain."""
        return sum(1 for one in self.problems if one.severity == severity and not one.fixed)

    @property
    def healthy(self) -> bool:
        """Whether no error remains."""
        return self.left(ERROR) == 0


def doctor(vault: Vault, caller: Caller, *, fix: bool = False, full: bool = False) -> Diagnosis:
    """Check the vault; with `full` git checks every object, too, and nothing is left out to save time. With `fix` the
    vault is checked again after mending, so that a problem counts as fixed only where it is gone."""
    before = _examined(vault, full)
    if not fix or not any(one.fixable for one in before.problems):
        return before
    commits, notices = mend(vault, caller, before.problems)
    after = _examined(Vault(vault.root, vault.git.environment, vault.disk), full)
    left = {_key(one) for one in after.problems}
    fixed = [one._replace(fixed=True) for one in before.problems if one.fixable and _key(one) not in left]
    return Diagnosis(in_order([*fixed, *after.problems]), after.checked, commits, (*before.notices, *notices))


def _key(problem: HealthProblem) -> tuple[str, str | None, str]:
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
        problems = [*tree_problems(vault, reading.tree), *reading.problems]
        problems = _with_git(vault, reading, problems, full)
    # Writers need not wait for the rest.
    problems += reading_problems(reading)
    problems += own_settings_problems(vault)
    search = SecretSearch(None if full else SECONDS)
    problems += search.look(vault, files_to_search(reading))
    notices += search.notices()
    if full:
        problems += fsck_problems(vault)
        problems += _old_histories(vault)
    return Diagnosis(in_order(problems), reading.checked, (), tuple(notices))


def _old_histories(vault: Vault) -> list[HealthProblem]:
    """What is left of histories from before a redaction; where git cannot tell, its damage is named elsewhere."""
    try:
        head = vault.head().commit
        return list(old_history_problems(vault, head)) if head else []
    except ClawmemError:
        return []


def _with_git(vault: Vault, reading: VaultContent, problems: list[HealthProblem], full: bool) -> list[HealthProblem]:
    try:
        problems += branch_problems(vault)
        head = vault.head().commit
        problems += repository_problems(vault)
        problems += state_problems(vault)
        problems += git_index_problems(vault)
        problems += clone_problems(vault)
        problems += clock_problems(vault) if head and full else ()
        problems += merging_problems(vault)
        problems += redaction_problems(vault, head) if head else ()
        problems += withdrawn_problems(vault, reading.facts) if head else ()
        waiting = finish_scan(vault, start_scan(vault))
        in_head = head_blobs(vault, head) if head else {}
        altered = altered_files(vault, in_head, waiting)
        lost = lost_files(vault, in_head)
    except ClawmemError as problem:
        names = case_problems(reading.tree.owned)
        return [*problems, *names, HealthProblem(ERROR, "git", ".git", None, _said(problem))]
    problems += committed_name_problems(in_head, reading.tree.owned)
    problems += altered_problems(altered)
    problems = [_deleted(one) if one.check == "entity-files" and one.path in waiting else one for one in problems]
    if lost:
        # Whatever else there is to ask would be asked of git.
        whole = set(reading.tree.owned) - {*waiting, *altered}
        return [*(one for one in problems if one.path not in lost), *lost_problems(lost, whole)]
    problems += _ways_back(vault, {one.path for one in problems if one.severity == ERROR} - set(waiting), in_head)
    named = {one.path for one in problems if one.severity != INFO}
    problems += waiting_problems(check_edits(vault, waiting), named)
    if not any(one.severity == ERROR and one.check in _BREAKS_INDEX for one in problems):
        committed = [one for one in reading.facts if one.path not in reading.broken]
        differing = {*waiting, *altered}
        expected = expected_at_head(vault, committed, reading.event_ids, reading.tree.owned, differing)
        problems += index_problems(vault, expected, full)
    return problems


def _ways_back(vault: Vault, paths: Collection[str | None], in_head: Collection[str]) -> list[HealthProblem]:
    """How to bring back those of the files that HEAD itself holds in a form nobody can read."""
    broken = unreadable_files(vault, (path for path in paths if path in in_head and path is not None))
    return [HealthProblem(INFO, "last-whole", path, None, problem.hint) for path, problem in broken.items()]


def _said(problem: ClawmemError) -> str:
    """The sentence and the hint, unless that only leads here."""
    return problem.message if "`clawmem doctor" in problem.hint else f"{problem.message} {problem.hint}".strip()


def _deleted(problem: HealthProblem) -> HealthProblem:
    """A file that HEAD still has must come back from there, not be made anew and empty."""
    message = f"{problem.message} It was deleted by hand: bring it back with `git checkout HEAD -- {problem.path}`."
    return problem._replace(severity=ERROR, message=message, fixable=False)
