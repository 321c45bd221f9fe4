"""Doctor: read every file of the vault and check every rule. With `fix`, repair what is safe to repair.

Check the hooks of agent harnesses: the last call of each must have done its work in time.

Check that the vault has a record of every redaction in its history.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import ExitStack
from datetime import datetime
from typing import NamedTuple

from clawmem.errors import ClawmemError
from clawmem.memory.health.checks.derived import expected_at_head, index_problems
from clawmem.memory.health.checks.facts import withdrawn_problems
from clawmem.memory.health.checks.ledger import learning_problems
from clawmem.memory.health.checks.problem import ERROR, INFO, WARNING, HealthProblem, sorted_problems
from clawmem.memory.health.checks.reading import (
    SEARCH_SECONDS,
    VaultContent,
    VaultSecretSearch,
    files_to_search,
    read_vault,
    reading_problems,
)
from clawmem.memory.health.checks.repository import (
    fsck_problems,
    local_settings_problems,
    repository_problems,
    state_problems,
    waiting_problems,
)
from clawmem.memory.health.checks.tree import (
    altered_problems,
    branch_problems,
    case_problems,
    clock_problems,
    clone_problems,
    committed_name_problems,
    git_index_problems,
    lost_problems,
    merging_problems,
    tree_problems,
)
from clawmem.memory.health.configure import extension_problems
from clawmem.memory.health.repair import repair
from clawmem.model.history.redaction import RECORD, records_of
from clawmem.model.kinds import LEDGER_DAY, file_kind
from clawmem.model.language.text import counted
from clawmem.model.records.caller import Caller
from clawmem.vault.commit.integrity import altered_files, head_blobs, lost_files
from clawmem.vault.disk import writer_lock
from clawmem.vault.edits.hand_edits import check_edits, unreadable_files
from clawmem.vault.edits.scan import finish_scan, start_scan
from clawmem.vault.rewriting.redacted_history import is_redacted, redactions_in, unreachable_originals
from clawmem.vault.state.hook_marks import DONE, FOLDER, read_marks
from clawmem.vault.vault import Vault

_WAIT_SECONDS = 10.0
_BREAKS_INDEX = ("settings", "git", "ledger")


class Diagnosis(NamedTuple):
    """The problems, worst first, with the repaired ones marked as fixed; the numbers of checked things; the commits."""

    problems: tuple[HealthProblem, ...]
    checked: Mapping[str, int]
    commits: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()

    def remaining(self, severity: str) -> int:
        """Return the number of unfixed problems of a severity."""
        return sum(1 for problem in self.problems if problem.severity == severity and not problem.fixed)

    @property
    def healthy(self) -> bool:
        """Return whether there is no unfixed error."""
        return self.remaining(ERROR) == 0


def doctor(vault: Vault, caller: Caller, *, fix: bool = False, full: bool = False) -> Diagnosis:
    """Check the vault.

    With `full`, git checks every object too, and nothing is skipped to save time. With `fix`, the vault is checked
    again after the repair, so a problem counts as fixed only if it does not exist any more."""
    before = _examine(vault, full, caller.now)
    if not fix or not any(problem.fixable for problem in before.problems):
        return before
    commits, notices = repair(vault, caller, before.problems)
    after = _examine(Vault(vault.root, vault.git.environment, vault.disk), full, caller.now)
    left = {_key(problem) for problem in after.problems}
    fixed = [
        problem._replace(fixed=True) for problem in before.problems if problem.fixable and _key(problem) not in left
    ]
    return Diagnosis(sorted_problems([*fixed, *after.problems]), after.checked, commits, (*before.notices, *notices))


def _key(problem: HealthProblem) -> tuple[str, str | None, str]:
    return problem.check, problem.path, problem.message


def _examine(vault: Vault, full: bool, now: datetime) -> Diagnosis:
    notices: list[str] = []
    with ExitStack() as stack:
        # The lock keeps writers away, so that all files are of one state.
        try:
            vault.prepare_state()
            stack.enter_context(writer_lock(vault.state / "lock", _WAIT_SECONDS, "doctor"))
        except OSError as problem:
            notices.append(f"the vault is not writable, so it was read without the lock: {problem.strerror}")
        reading = read_vault(vault)
        problems = [*tree_problems(vault, reading.tree), *reading.problems]
        problems = _git_problems(vault, reading, problems, full)
    # Writers do not have to wait for the rest.
    problems += reading_problems(reading)
    problems += local_settings_problems(vault)
    problems += hook_problems(vault)
    problems += extension_problems(vault)
    ledgers = [path for path in reading.tree.owned if file_kind(path) is LEDGER_DAY]
    problems += learning_problems(vault, ledgers, now)
    search = VaultSecretSearch(None if full else SEARCH_SECONDS)
    problems += search.search(vault, files_to_search(reading))
    notices += search.notices()
    if full:
        problems += fsck_problems(vault)
        problems += _old_history(vault)
    return Diagnosis(sorted_problems(problems), reading.checked, (), tuple(notices))


def _old_history(vault: Vault) -> list[HealthProblem]:
    """Find remains of histories from before a redaction. Damage of git is reported elsewhere."""
    try:
        head = vault.head().commit
        return list(old_history_problems(vault, head)) if head else []
    except ClawmemError:
        return []


def _git_problems(
    vault: Vault, reading: VaultContent, problems: list[HealthProblem], full: bool
) -> list[HealthProblem]:
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
        return [*problems, *names, HealthProblem(ERROR, "git", ".git", None, _sentence(problem))]
    problems += committed_name_problems(in_head, reading.tree.owned)
    problems += altered_problems(altered)
    problems = [
        _as_deleted(other_problem)
        if other_problem.check == "entity-files" and other_problem.path in waiting
        else other_problem
        for other_problem in problems
    ]
    if lost:
        # The remaining checks need git, which cannot answer.
        whole = set(reading.tree.owned) - {*waiting, *altered}
        return [
            *(other_problem for other_problem in problems if other_problem.path not in lost),
            *lost_problems(lost, whole),
        ]
    problems += _last_readable(
        vault,
        {other_problem.path for other_problem in problems if other_problem.severity == ERROR} - set(waiting),
        in_head,
    )
    named = {other_problem.path for other_problem in problems if other_problem.severity != INFO}
    problems += waiting_problems(check_edits(vault, waiting), named)
    if not any(other_problem.severity == ERROR and other_problem.check in _BREAKS_INDEX for other_problem in problems):
        committed = [fact for fact in reading.facts if fact.path not in reading.broken]
        differing = {*waiting, *altered}
        expected = expected_at_head(vault, committed, reading.event_ids, reading.tree.owned, differing)
        problems += index_problems(vault, expected, full)
    return problems


def _last_readable(vault: Vault, paths: Collection[str | None], in_head: Collection[str]) -> list[HealthProblem]:
    """Say how to restore the files that are unreadable in HEAD too."""
    broken = unreadable_files(vault, (path for path in paths if path in in_head and path is not None))
    return [HealthProblem(INFO, "last-whole", path, None, problem.hint) for path, problem in broken.items()]


def _sentence(problem: ClawmemError) -> str:
    """Return the message and the hint, but not a hint that only says to run doctor."""
    return problem.message if "`clawmem doctor" in problem.hint else f"{problem.message} {problem.hint}".strip()


def _as_deleted(problem: HealthProblem) -> HealthProblem:
    """Mark a missing file as deleted by hand: it must be restored from HEAD, not created empty."""
    message = f"{problem.message} It was deleted by hand: restore it with `git checkout HEAD -- {problem.path}`."
    return problem._replace(severity=ERROR, message=message, fixable=False)


HOOK = "hook"


def hook_problems(vault: Vault) -> Iterator[HealthProblem]:
    """Yield a problem for each hook whose last call failed or took too long."""
    for mark in read_marks(vault):
        if mark.outcome != DONE:
            text = f"The last call of {mark.event} by {mark.harness} ({mark.at}) {_WORDS.get(mark.outcome, 'failed')}"
            yield HealthProblem(WARNING, HOOK, f".git/clawmem/{FOLDER}", None, f"{text}: {mark.message.rstrip('.')}.")


_WORDS = {"late": "was too late", "failed": "failed"}


def redaction_problems(vault: Vault, head: str) -> Iterator[HealthProblem]:
    """Yield missing records, or an unreadable record file. Runs git."""
    made = redactions_in(vault, head)
    try:
        known = len(records_of(vault.read(RECORD)))
    except ValueError as problem:
        yield HealthProblem(ERROR, "redactions", RECORD, None, f"The records cannot be read: {problem}")
        return
    if known < len(made):
        message = f"The history has {counted(len(made), 'redaction')}, but the file has {known}.{_cure(made)}"
        yield HealthProblem(ERROR, "redactions", RECORD, None, message)


def old_history_problems(vault: Vault, head: str) -> Iterator[HealthProblem]:
    """Yield commits from before a redaction that the repository still has. Runs git over all objects."""
    kept = unreachable_originals(vault, head) if is_redacted(vault, head) else []
    if kept:
        message = (
            f"git still has {counted(len(kept), 'commit')} of this history from before a redaction, "
            f"such as {kept[0][:12]}. To remove them, if nothing else needs them: `git remote prune origin`, delete "
            "the refs that contain them (`git for-each-ref --contains COMMIT`), "
            "`git reflog expire --expire=now --all`, `git repack -a -d` and `git prune --expire=now`."
        )
        yield HealthProblem(WARNING, "redactions", ".git", None, message)


def _cure(made: list[str]) -> str:
    return f" `git checkout {made[0][:12]} -- {RECORD}` restores the record of that commit." if made else ""
