"""The history of the vault: commits by name or date, found with plain git, and entries.

Entries are read through GitPython, which only commands that need history import.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from threading import RLock
from types import ModuleType
from typing import TYPE_CHECKING, Any, NamedTuple

from clawmem.errors import AmbiguousId, GitFailed, NotFound
from clawmem.model.history.entry import HistoryEntry, entry_of, escape_pattern
from clawmem.model.language.dates import moment_of, stamp_of_seconds
from clawmem.vault.git.blobs import limits_by_blob
from clawmem.vault.git.folder import check_everything
from clawmem.vault.git.git import git_error, lost_object_error
from clawmem.vault.git.refs import common_dir_of, refs_below
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
        return self.entry(resolve_commit(self.vault, text))

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
        options["since"] = git_time(wanted.since)
    if wanted.until:
        options["until"] = git_time(wanted.until)
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


_SHORTEST = 4
_HEX = frozenset("0123456789abcdef")
_LOG_SHOWS = "`clawmem log` lists the commits."


def before_first_commit(vault: Vault, text: str) -> NotFound:
    """Return the error for a date before the first commit."""
    printed = vault.git.run("log", "--format=%ct", "HEAD", "--").decode().split()
    first = stamp_of_seconds(min(map(int, printed)))
    if is_shallow(vault):
        return NotFound(
            f"Nothing is known of {text}: this copy of the vault is shallow, its history starts at {first}.",
            "Fetch the rest with `git fetch --unshallow`, or name a later date.",
        )
    return NotFound(
        f"The vault was still empty at {text}: its first commit is from {first}.",
        f"Name {first[:10]} or later, or a commit.",
    )


def resolve_commit(vault: Vault, text: str) -> str:
    """Return the full name of the commit that a name, a unique prefix, a tag or `HEAD~2` refers to.

    Raise AmbiguousId if there are several, and NotFound if there is none or HEAD does not contain it.
    """
    vault.head()  # raises if HEAD itself is damaged
    name = find_commit(vault, text)
    if name is None:
        if len(matches := _with_prefix(vault, text)) > 1:
            raise AmbiguousId(text, matches)
        more = "This copy of the vault is shallow; `git fetch --unshallow` fetches the rest of its history."
        hint = more if is_shallow(vault) else _LOG_SHOWS
        raise NotFound(f"There is no commit '{text}' in the vault.", hint)
    if vault.git.try_run("merge-base", "--is-ancestor", name, "HEAD") is None:
        raise NotFound(f"The commit {name[:12]} is not part of this vault's history.", "`clawmem log` shows what is.")
    return name


def find_commit(vault: Vault, text: str) -> str | None:
    """Return the full name of the commit that `text` refers to, on any branch, or None."""
    if not text or text.startswith("-") or not text.isprintable():
        return None
    printed = vault.git.try_run("rev-parse", "--verify", "--quiet", f"{text}^{{commit}}")
    return printed.decode().strip() if printed else None


def last_commits_at(vault: Vault, moment: str) -> list[str]:
    """Return the last commit at or before an ISO time, and the last of each line of history that was joined with it
    later."""
    asked, found = ("rev-list", "-1", f"--until={git_time(moment)}", "HEAD"), list[str]()
    while printed := vault.git.run(*asked, *(f"^{name}" for name in found), "--").decode().strip():
        found.append(printed)
    return found


def commit_time(vault: Vault, commit: str) -> str:
    """Return the time of a commit."""
    return stamp_of_seconds(int(vault.git.run("log", "-1", "--format=%ct", commit, "--").decode()))


def git_time(moment: str) -> str:
    """Return an ISO time as seconds, because git guesses some written dates and reads distant ones as today."""
    return f"@{max(0, int(moment_of(moment).timestamp()))} +0000"


def _with_prefix(vault: Vault, text: str) -> list[str]:
    """Return the commits whose names start with `text`."""
    if len(text) < _SHORTEST or not set(text) <= _HEX:
        return []
    objects = vault.git.run("rev-parse", f"--disambiguate={text}")
    kinds = vault.git.run("cat-file", "--batch-check", stdin=objects).decode().splitlines()
    return sorted(line.split()[0] for line in kinds if line.split()[1] == "commit")


def is_shallow(vault: Vault) -> bool:
    """Return whether this is a shallow clone."""
    return (common_dir_of(vault.git_dir) / "shallow").exists()


FOLDER = "refs/clawmem/rescue"
MAX_KEPT = 20


class RescueRef(NamedTuple):
    """A rescue ref, and the lines with which `git update-ref --stdin` creates it."""

    ref: str
    lines: str


def rescue_ref_update(vault: Vault, commit: str, now: datetime) -> RescueRef:
    """Return how to create a rescue ref for a commit. The oldest refs beyond twenty are deleted."""
    ref = f"{FOLDER}/{now:%Y%m%dT%H%M%SZ}-{commit[:12]}"
    known = refs_below(vault.git_dir, FOLDER)
    stale = sorted({*known} - {ref})[: max(0, len({*known, ref}) - MAX_KEPT)]
    return RescueRef(ref, f"update {ref} {commit}\n" + "".join(f"delete {text}\n" for text in stale))


# The empty tree, which every git repository has.
EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
REGULAR_MODE = "100644"
_FILES = (REGULAR_MODE, "100755")


class FileVersion(NamedTuple):
    """A file in a commit: its mode and the name of its blob."""

    mode: str
    blob: str

    @property
    def is_file(self) -> bool:
        """Whether it is a regular file, not a link or a submodule."""
        return self.mode in _FILES


class Versions(NamedTuple):
    """The paths in which two commits differ from a base commit, with their version in each of the three."""

    base: Mapping[str, FileVersion]
    ours: Mapping[str, FileVersion]
    theirs: Mapping[str, FileVersion]

    @property
    def paths(self) -> set[str]:
        """The paths that differ."""
        return {*self.base, *self.ours, *self.theirs}


def diff_commits(vault: Vault, base: str, ours: str, theirs: str) -> Versions:
    """Compare two commits with a base commit."""
    mine, yours = _changes(vault, base, ours), _changes(vault, base, theirs)
    old = {path: pair[0] for path, pair in {**mine, **yours}.items()}
    record = {path: mine[path][1] if path in mine else old[path] for path in old}
    other = {path: yours[path][1] if path in yours else old[path] for path in old}
    return Versions(*({path: version for path, version in side.items() if version} for side in (old, record, other)))


def _changes(vault: Vault, old: str, new: str) -> dict[str, tuple[FileVersion | None, FileVersion | None]]:
    if old == new:
        return {}
    printed = vault.git.run("diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames", old, new)
    parts = printed.decode(errors="surrogateescape").split("\0")
    rows = zip(parts[::2], parts[1::2], strict=False)
    return {path: _pair(*described.removeprefix(":").split(" ")[:4]) for described, path in rows}


def _pair(old_mode: str, new_mode: str, old_blob: str, new_blob: str) -> tuple[FileVersion | None, FileVersion | None]:
    return _version(old_mode, old_blob), _version(new_mode, new_blob)


def _version(mode: str, blob: str) -> FileVersion | None:
    return None if mode == "000000" else FileVersion(mode, blob)


def read_versions(vault: Vault, items: Iterable[tuple[str, FileVersion]]) -> dict[str, bytes]:
    """Return the contents of files, given with their paths, by blob name. One git process reads them all.

    A file beyond the limit of its kind gives an UnreadFile. Raise GitFailed if git has lost one.
    """
    paths: dict[str, list[str]] = {}
    for path, version in items:
        paths.setdefault(version.blob, []).append(path)
    found: dict[str, bytes] = {}
    for blob, data in vault.git.read_blobs(sorted(paths), limit_of=limits_by_blob(paths)).items():
        if data is None:
            raise lost_object_error(blob)
        found[blob] = data
    return found


def common_ancestors(vault: Vault, text: str, other: str) -> list[str]:
    """Return the best common ancestors of two commits, none if their histories are unrelated."""
    printed = vault.git.try_run("merge-base", "--all", text, other)
    return (printed or b"").decode().split()


def refs_by_name(vault: Vault) -> dict[str, str]:
    """Return the object of every ref, by ref name."""
    printed = vault.git.run("for-each-ref", "--format=%(refname) %(objectname)").decode()
    return dict(line.split(" ") for line in printed.splitlines())


def delete_refs(vault: Vault, *patterns: str) -> None:
    """Delete the refs that match some patterns of `git for-each-ref`, in one step."""
    names = vault.git.run("for-each-ref", "--format=%(refname)", *patterns).decode().split()
    lines = "".join(f"option no-deref\ndelete {name}\n" for name in names)
    vault.git.run("update-ref", "--stdin", stdin=lines.encode())


def count_between(vault: Vault, old: str | None, new: str) -> int:
    """Return how many commits lead to `new` and not to `old`."""
    return int(vault.git.run("rev-list", "--count", f"{old}..{new}" if old else new, "--"))


def commit_times(vault: Vault, *commits: str) -> list[tuple[int, str]]:
    """Return the Unix time of each commit, with its name."""
    printed = vault.git.run("show", "-s", "--format=%ct", *commits).split()
    return [(int(seconds), commit) for seconds, commit in zip(printed, commits, strict=True)]
