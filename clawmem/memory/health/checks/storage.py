"""Check the storage: damaged git files, silently changed bytes, and incomplete clones."""

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
_MAX_SHOWN = 5


def clone_problems(vault: Vault) -> Iterator[HealthProblem]:
    """Yield how this clone differs from a complete one with default settings."""
    if is_shallow(vault):
        message = (
            "This is a shallow clone, which lacks the older commits: `log`, `why` and `undo` see only a part of the"
            " history, and `backup` refuses. `git fetch --unshallow` gets the rest."
        )
        yield HealthProblem(WARNING, "shallow", ".git/shallow", None, message)
    if converts_line_endings(vault):
        message = "core.autocrlf is on, so git writes files with other line ends than clawmem."
        yield HealthProblem(WARNING, LINE_ENDS, ".git/config", None, message, fixable=True)
    for broken_ref in broken_refs(vault):
        yield HealthProblem(ERROR, "refs", ".git/refs", None, f"git says: {broken_ref}.")


def branch_problems(vault: Vault) -> Iterator[HealthProblem]:
    """Yield a branch whose ref file is damaged or missing."""
    found = lost_branch(vault.git_dir)
    if found is None:
        return
    branch, commit = found
    there = has_commit(vault, commit)
    cure = (
        "It can be restored" if there else "That commit is lost too: restore the vault from a backup or another clone"
    )
    message = f"The ref file of the branch is lost; the last commit in its reflog is {commit[:12]}. {cure}."
    yield HealthProblem(ERROR, BRANCH, f".git/{branch}", None, message, fixable=there)


def git_index_problems(vault: Vault) -> Iterator[HealthProblem]:
    """Yield damage of the git index."""
    if not is_git_index_intact(vault):
        message = "The git index is damaged: its checksum is wrong. It can be rebuilt from HEAD."
        yield HealthProblem(ERROR, GIT_INDEX, ".git/index", None, message, fixable=True)
    elif not (vault.git_dir / "index").exists():
        message = "The git index is missing; the next change creates it."
        yield HealthProblem(WARNING, GIT_INDEX, ".git/index", None, message, fixable=True)


def lost_problems(lost: Collection[str], whole: Collection[str]) -> Iterator[HealthProblem]:
    """Yield files of HEAD whose git objects are lost. `whole` are those with an unchanged file in the work tree."""
    for path in lost:
        cure = "the file itself is intact, and `clawmem doctor --fix` restores the git object from it"
        if path not in whole:
            cure = "restore the vault from a backup, or from another clone"
        message = f"git has lost the committed content of the file, which many commands need: {cure}."
        yield HealthProblem(ERROR, LOST, path, None, message, fixable=path in whole)


def altered_problems(altered: Collection[str]) -> Iterator[HealthProblem]:
    """Yield files that differ from HEAD although their times say that nobody wrote to them."""
    for path in altered:
        message = (
            "The file differs from its commit, but its times say that nobody wrote to it: the disk may have changed it."
            f" `touch {path} && git checkout HEAD -- {path}` restores the committed file."
        )
        yield HealthProblem(ERROR, "altered", path, None, message)


def committed_name_problems(in_head: Mapping[str, str], owned: Collection[str]) -> Iterator[HealthProblem]:
    """Yield committed paths that are the same on some file systems, where one of them would be lost."""
    yield from case_problems(sorted({path for path in in_head if is_owned(path)} | set(owned)))


def clock_problems(vault: Vault) -> Iterator[HealthProblem]:
    """Yield commits with a date before that of their parent: they make the lookup by date wrong."""
    found = clock_setbacks(vault, _DAY)
    for name, seconds in found[:_MAX_SHOWN]:
        message = (
            f"The commit {name[:12]} is dated {counted(seconds // _DAY, 'day')} before its parent: a clock was wrong."
            " `--at` and `diff` with a date in between may show later facts; use a commit instead."
        )
        yield HealthProblem(INFO, "clock", ".git", None, message)
