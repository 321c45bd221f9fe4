"""How commits differ: names, modes and contents of files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from clawmem.vault.git.blobs import limits_by_blob
from clawmem.vault.git.git import lost_object_error
from clawmem.vault.vault import Vault

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


def is_ancestor(vault: Vault, old: str, new: str) -> bool:
    """Return whether a commit is part of the history of another."""
    return old == new or vault.git.try_run("merge-base", "--is-ancestor", old, new) is not None


def count_between(vault: Vault, old: str | None, new: str) -> int:
    """Return how many commits lead to `new` and not to `old`."""
    return int(vault.git.run("rev-list", "--count", f"{old}..{new}" if old else new, "--"))


def commit_times(vault: Vault, *commits: str) -> list[tuple[int, str]]:
    """Return the Unix time of each commit, with its name."""
    printed = vault.git.run("show", "-s", "--format=%ct", *commits).split()
    return [(int(seconds), commit) for seconds, commit in zip(printed, commits, strict=True)]


def resolve_ref(vault: Vault, ref: str) -> str | None:
    """Return the commit that a ref names, or None."""
    printed = vault.git.try_run("rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}")
    return printed.decode().strip() if printed else None
