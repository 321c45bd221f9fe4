"""The vault's history as entries, read through GitPython, which only the verbs that look back ever load."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from clawmem.errors import GitFailed
from clawmem.model.history.entry import HistoryEntry, entry_of, escape_pattern
from clawmem.model.language.dates import stamp
from clawmem.vault.git.folder import check_everything
from clawmem.vault.git.git import failure
from clawmem.vault.history import points
from clawmem.vault.vault import Vault

if TYPE_CHECKING:
    from git import Commit, Repo


class HistoryFilter(NamedTuple):
    """Which commits are asked for; everything given must hold.

    `grep` are basic regular expressions of which one must match the message (none of them, where `inverted`);
    `author` is part of the author's line; `since` and `until` are ISO times; `paths` are vault files.
    """

    grep: Sequence[str] = ()
    inverted: bool = False
    author: str | None = None
    since: str | None = None
    until: str | None = None
    paths: Sequence[str] = ()
    rev: str = "HEAD"


class History:
    """The commits that lead to HEAD. Made by `open_history`, which closes it."""

    def __init__(self, vault: Vault, repo: Repo) -> None:
        self.vault = vault
        self._repo = repo

    def entries(self, wanted: HistoryFilter) -> Iterator[HistoryEntry]:
        """The commits asked for, newest first, read one by one as they are taken."""
        with _as_failures():
            for commit in self._repo.iter_commits(wanted.rev, _pathspecs(wanted.paths), **_options(wanted)):
                yield _entry(commit)

    def entry(self, name: str) -> HistoryEntry:
        """The commit of a full name."""
        with _as_failures():
            return _entry(self._repo.commit(name))

    def named(self, text: str) -> HistoryEntry:
        """The commit that a name, the unique start of one, or `HEAD~2` stands for; NotFound where HEAD lacks it."""
        return self.entry(points.named(self.vault, text))

    def at(self, text: str, now: datetime) -> HistoryEntry | None:
        """The commit that a name or a date stands for; None for a date before the first commit."""
        point = points.point_at(self.vault, text, now)
        return self.entry(point.commit) if point else None

    def resolve(self, text: str) -> str | None:
        """The full name of the commit that `text` stands for, or None."""
        return points.commit_of(self.vault, text)

    def last_at(self, moment: str) -> str | None:
        """The last commit of the main line at or before an ISO time, or None where all are younger."""
        return points.last_at(self.vault, moment)

    def places(self) -> Mapping[str, int]:
        """Each commit's place counted from HEAD backwards, no parent before its child."""
        names = self.vault.git.run("rev-list", "--topo-order", "HEAD", "--").decode().split()
        return {name: place for place, name in enumerate(names)}

    def mentioning(self, text: str, ending: str) -> list[str]:
        """The commits that changed how often `text` stands in the files with this ending, newest first."""
        printed = self.vault.git.run(
            "log", f"-S{text}", "--no-renames", "--format=%H", "HEAD", "--", f":(glob)**/*{ending}"
        )
        return printed.decode().split()


@contextmanager
def open_history(vault: Vault) -> Iterator[History]:
    """Open the history; while it is open, this process has the scrubbed environment that git gets."""
    check_everything(vault.root, vault.git_dir)
    vault.head()  # raises where HEAD is the trouble, which GitPython would put in words of its own
    with gitpython(vault.git.surroundings()) as git:
        repo = git.Repo(vault.root, expand_vars=False)
        repo.git.set_persistent_git_options(c=vault.git.command(())[2::2])
        try:
            yield History(vault, repo)
        finally:
            repo.close()


@contextmanager
def gitpython(clean: Mapping[str, str]) -> Iterator[ModuleType]:
    """GitPython; while it is in use, this process has just these variables.

    GitPython copies the process's own environment for every git it starts, and reads GIT_ variables itself,
    so scrubbing there is the one place that holds.
    """
    before = dict(os.environ)
    _replace_environment(clean)
    try:
        yield _imported()
    finally:
        _replace_environment(before)


def _imported() -> ModuleType:
    try:
        import git  # 70 ms: never on the way of a write or a recall
    except ImportError as problem:
        raise GitFailed("git was not found on this machine.", "Install git 2.30 or newer.") from problem
    return git


def _replace_environment(wanted: Mapping[str, str]) -> None:
    for key in set(os.environ) - set(wanted):
        del os.environ[key]
    os.environ.update(wanted)


@contextmanager
def _as_failures() -> Iterator[None]:
    from git.exc import GitCommandError, ODBError

    try:
        yield
    except GitCommandError as problem:
        raise failure("rev-list", 128, str(problem.stderr or "").encode()) from None
    except (ODBError, ValueError) as problem:
        # What GitPython raises for an object that is missing or damaged.
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


def _pathspecs(paths: Sequence[str]) -> list[str]:
    return [f":(literal){path}" for path in paths]


def _entry(commit: Commit) -> HistoryEntry:
    message = commit.message if isinstance(commit.message, str) else commit.message.decode(errors="replace")
    return entry_of(
        commit.hexsha,
        stamp(datetime.fromtimestamp(commit.committed_date, UTC)),
        commit.author.name or "unknown",
        commit.author.email or "",
        message,
        (parent.hexsha for parent in commit.parents),
    )
