"""The history of the vault as entries, read through GitPython, which only commands that need history import."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import RLock
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from clawmem.errors import GitFailed
from clawmem.model.history.entry import HistoryEntry, entry_of, escape_pattern
from clawmem.model.language.dates import stamp_of_seconds
from clawmem.vault.git.folder import check_everything
from clawmem.vault.git.git import git_error
from clawmem.vault.history import points
from clawmem.vault.vault import Vault

if TYPE_CHECKING:
    from git import Commit, Repo


class HistoryFilter(NamedTuple):
    """Which commits to return; all given conditions must hold.

    `grep` are basic regular expressions, one of which must match the message (none of them if `inverted`). `author` is
    part of the author line, `since` and `until` are ISO times, `paths` are vault files.
    """

    grep: Sequence[str] = ()
    inverted: bool = False
    author: str | None = None
    since: str | None = None
    until: str | None = None
    paths: Sequence[str] = ()
    rev: str = "HEAD"


class History:
    """The commits that lead to HEAD. Created by `open_history`, which closes it."""

    def __init__(self, vault: Vault, repo: Repo) -> None:
        self.vault = vault
        self._repo = repo

    def entries(self, wanted: HistoryFilter) -> Iterator[HistoryEntry]:
        """Yield the matching commits, newest first, read one by one."""
        with _translate_errors():
            for commit in self._repo.iter_commits(
                wanted.rev, [f":(literal){path}" for path in wanted.paths], **_options(wanted)
            ):
                yield _entry(commit)

    def entry(self, name: str) -> HistoryEntry:
        """Return the commit with a full name."""
        with _translate_errors():
            return _entry(self._repo.commit(name))

    def named(self, text: str) -> HistoryEntry:
        """Return the commit that a name, a unique prefix or `HEAD~2` refers to. Raise NotFound if HEAD does not contain
        it."""
        return self.entry(points.resolve_commit(self.vault, text))

    def positions(self) -> Mapping[str, int]:
        """Return the position of each commit, counted backwards from HEAD. No parent comes before its child."""
        names = self.vault.git.run("rev-list", "--topo-order", "HEAD", "--").decode().split()
        return {name: place for place, name in enumerate(names)}

    def commits_changing(self, text: str, ending: str) -> list[str]:
        """Return the commits that changed how often `text` occurs in files with this ending, newest first."""
        printed = self.vault.git.run(
            "log", f"-S{text}", "--no-renames", "--format=%H", "HEAD", "--", f":(glob)**/*{ending}"
        )
        return printed.decode().split()


@contextmanager
def open_history(vault: Vault) -> Iterator[History]:
    """Open the history. While it is open, this process has the environment that git gets."""
    check_everything(vault.root, vault.git_dir)
    vault.head()  # raises clawmem's own error if HEAD is damaged
    with gitpython(vault.git.process_environment()) as git:
        repo = git.Repo(vault.root, expand_vars=False)
        repo.git._working_dir = str(vault.root)  # GitPython expands variables there all the same
        repo.git.set_persistent_git_options(c=vault.git.command(())[2::2])
        try:
            yield History(vault, repo)
        finally:
            repo.close()


_ONE_AT_A_TIME = RLock()


@contextmanager
def gitpython(clean: Mapping[str, str]) -> Iterator[ModuleType]:
    """Yield GitPython. In this context the process has just the given environment variables.

    GitPython passes the environment of this process to git and reads GIT_ variables itself, so the environment must be
    replaced.
    """
    with _ONE_AT_A_TIME:  # of the threads of a server
        before = dict(os.environ)
        _replace_environment(clean)
        try:
            yield _imported()
        finally:
            _replace_environment(before)


def _imported() -> ModuleType:
    try:
        import git  # 70 ms: never imported by a write or a recall
    except ImportError as problem:
        raise GitFailed("git was not found on this machine.", "Install git 2.30 or newer.") from problem
    return git


def _replace_environment(wanted: Mapping[str, str]) -> None:
    for key in set(os.environ) - set(wanted):
        del os.environ[key]
    os.environ.update(wanted)


@contextmanager
def _translate_errors() -> Iterator[None]:
    from git.exc import GitCommandError, ODBError

    try:
        yield
    except GitCommandError as problem:
        raise git_error("rev-list", 128, str(problem.stderr or "").encode()) from None
    except (ODBError, ValueError) as problem:
        # GitPython's errors for a missing or damaged object.
        raise GitFailed(f"The history cannot be read: {problem}.", "Run `git fsck` in the vault.") from problem


def _options(wanted: HistoryFilter) -> dict[str, Any]:
    options: dict[str, Any] = {"basic_regexp": True}
    if wanted.grep:
        options["grep"] = list(wanted.grep)
        options["invert_grep"] = wanted.inverted
    if wanted.author:
        options["author"] = escape_pattern(wanted.author)
        options["regexp_ignore_case"] = True
    if wanted.since:
        options["since"] = points.git_time(wanted.since)
    if wanted.until:
        options["until"] = points.git_time(wanted.until)
    if wanted.paths:
        options["full_history"] = True
    return options


def _entry(commit: Commit) -> HistoryEntry:
    message = commit.message if isinstance(commit.message, str) else commit.message.decode(errors="replace")
    return entry_of(
        commit.hexsha,
        stamp_of_seconds(commit.committed_date),
        commit.author.name or "unknown",
        commit.author.email or "",
        message,
        (parent.hexsha for parent in commit.parents),
    )
