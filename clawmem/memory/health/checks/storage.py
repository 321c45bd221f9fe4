"""What disks and clones do to a vault: damaged files of git's, bytes altered without a trace, histories cut off."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from clawmem.memory.health.checks.problem import ERROR, INFO, WARNING, HealthProblem
from clawmem.memory.health.checks.tree import case_problems
from clawmem.model.language.text import counted
from clawmem.model.records.layout import is_owned
from clawmem.vault.commit.integrity import (
    broken_refs,
    clock_setbacks,
    converts_line_endings,
    has_commit,
    is_git_index_intact,
)
from clawmem.vault.exchange.bundle import is_shallow
from clawmem.vault.git.refs import lost_branch
from clawmem.vault.vault import Vault

BRANCH = "branch"
GIT_INDEX = "git-index"
LINE_ENDS = "line-ends"
LOST = "lost"
_DAY = 86_400
_SHOWN = 5


def clone_problems(vault: Vault) -> Iterator[HealthProblem]:
    """How this clone differs from a whole and plain one."""
    if is_shallow(vault):
        message = (
            "This is a shallow clone: what was before its first commit is not known here, so `log`, `why` and `undo`"
            " see only the rest, and `backup` refuses. `git fetch --unshallow` brings the rest."
        )
        yield HealthProblem(WARNING, "shallow", ".git/shallow", None, message)
    if converts_line_endings(vault):
        message = "core.autocrlf is on, so plain git writes files with other line ends than the vault's."
        yield HealthProblem(WARNING, LINE_ENDS, ".git/config", None, message, fixable=True)
    for said in broken_refs(vault):
        yield HealthProblem(ERROR, "refs", ".git/refs", None, f"git says: {said}.")


def branch_problems(vault: Vault) -> Iterator[HealthProblem]:
    """A branch whose file is damaged or gone, so that git knows an older commit or none in its place."""
    found = lost_branch(vault.git_dir)
    if found is None:
        return
    branch, commit = found
    there = has_commit(vault, commit)
    cure = "It can be put back" if there else "That one is gone too: restore the vault from a backup or another clone"
    message = f"The file of the branch is lost; by git's log of it the last commit was {commit[:12]}. {cure}."
    yield HealthProblem(ERROR, BRANCH, f".git/{branch}", None, message, fixable=there)


def git_index_problems(vault: Vault) -> Iterator[HealthProblem]:
    """Whether git's index is what git wrote."""
    if not is_git_index_intact(vault):
        message = "git's index does not have its checksum: it is damaged. It can be made anew from HEAD."
        yield HealthProblem(ERROR, GIT_INDEX, ".git/index", None, message, fixable=True)
    elif not (vault.git_dir / "index").exists():
        message = "git's index is missing; the next change makes it anew."
        yield HealthProblem(WARNING, GIT_INDEX, ".git/index", None, message, fixable=True)


def lost_problems(lost: Collection[str], whole: Collection[str]) -> Iterator[HealthProblem]:
    """Files of HEAD that git cannot give any more; `whole` are those that still stand in the vault as committed."""
    for path in lost:
        cure = "the file itself is whole, and `clawmem doctor --fix` gives it back to git"
        if path not in whole:
            cure = "restore the vault from a backup, or from another clone"
        message = f"git has lost the committed contents of the file, so nothing that needs them works: {cure}."
        yield HealthProblem(ERROR, LOST, path, None, message, fixable=path in whole)


def altered_problems(altered: Collection[str]) -> Iterator[HealthProblem]:
    """Files that are not what was committed and that nobody wrote to."""
    for path in altered:
        message = (
            "The file is not what was committed, though by its times nobody wrote to it: the disk may have altered it."
            f" `touch {path} && git checkout HEAD -- {path}` brings the committed one back."
        )
        yield HealthProblem(ERROR, "altered", path, None, message)


def committed_name_problems(in_head: Mapping[str, str], owned: Collection[str]) -> Iterator[HealthProblem]:
    """Committed paths that one file system keeps apart and another takes for the same: there, one of them is lost."""
    yield from case_problems(sorted({path for path in in_head if is_owned(path)} | set(owned)))


def clock_problems(vault: Vault) -> Iterator[HealthProblem]:
    """Commits that were made while a clock was behind: a date stands for the last commit at or before it."""
    found = clock_setbacks(vault, _DAY)
    for name, seconds in found[:_SHOWN]:
        message = (
            f"The commit {name[:12]} is dated {counted(seconds // _DAY, 'day')} before an older one: a clock was wrong."
            " `--at` and `diff` with a date in between may serve what was learned later; name a commit instead."
        )
        yield HealthProblem(INFO, "clock", ".git", None, message)
