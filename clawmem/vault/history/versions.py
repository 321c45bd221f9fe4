"""What two commits have in common and where they differ, as git tells it: names, modes and contents of files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from clawmem.vault.git.git import lost_object_error
from clawmem.vault.vault import Vault

# The tree without a file, which every git knows.
EMPTY_TREE = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
REGULAR_MODE = "100644"
_FILES = (REGULAR_MODE, "100755")


class FileVersion(NamedTuple):
    """A file as a commit holds it: its mode and the name of its contents."""

    mode: str
    blob: str

    @property
    def is_file(self) -> bool:
        """Whether it is a plain file, not a link or another repository."""
        return self.mode in _FILES


class Versions(NamedTuple):
    """Every path that differs between an old commit and either of two others, as each of the three holds it."""

    base: Mapping[str, FileVersion]
    ours: Mapping[str, FileVersion]
    theirs: Mapping[str, FileVersion]

    @property
    def paths(self) -> set[str]:
        """The paths that differ."""
        return {*self.base, *self.ours, *self.theirs}


def diff_commits(vault: Vault, base: str, ours: str, theirs: str) -> Versions:
    """How two commits differ from an old one."""
    mine, yours = _changes(vault, base, ours), _changes(vault, base, theirs)
    old = {path: pair[0] for path, pair in {**mine, **yours}.items()}
    one = {path: mine[path][1] if path in mine else old[path] for path in old}
    other = {path: yours[path][1] if path in yours else old[path] for path in old}
    return Versions(*({path: held for path, held in side.items() if held} for side in (old, one, other)))


def _changes(vault: Vault, old: str, new: str) -> dict[str, tuple[FileVersion | None, FileVersion | None]]:
    if old == new:
        return {}
    printed = vault.git.run("diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames", old, new)
    parts = printed.decode(errors="surrogateescape").split("\0")
    rows = zip(parts[::2], parts[1::2], strict=False)
    return {path: _pair(*told.removeprefix(":").split(" ")[:4]) for told, path in rows}


def _pair(old_mode: str, new_mode: str, old_blob: str, new_blob: str) -> tuple[FileVersion | None, FileVersion | None]:
    return _held(old_mode, old_blob), _held(new_mode, new_blob)


def _held(mode: str, blob: str) -> FileVersion | None:
    return None if mode == "000000" else FileVersion(mode, blob)


def read_versions(vault: Vault, held: Iterable[FileVersion]) -> dict[str, bytes]:
    """The contents of files by their names, read by one git. Raises GitFailed where it has lost one."""
    found: dict[str, bytes] = {}
    for blob, data in vault.git.read_blobs(sorted({one.blob for one in held})).items():
        if data is None:
            raise lost_object_error(blob)
        found[blob] = data
    return found


def common_ancestors(vault: Vault, one: str, other: str) -> list[str]:
    """The best common ancestors of two commits; none where their histories have nothing in common."""
    printed = vault.git.try_run("merge-base", "--all", one, other)
    return (printed or b"").decode().split()


def is_ancestor(vault: Vault, old: str, new: str) -> bool:
    """Whether one commit is part of another one's history."""
    return old == new or vault.git.try_run("merge-base", "--is-ancestor", old, new) is not None


def count_between(vault: Vault, old: str | None, new: str) -> int:
    """How many commits lead to one commit and not to another."""
    return int(vault.git.run("rev-list", "--count", f"{old}..{new}" if old else new, "--"))


def commit_times(vault: Vault, *commits: str) -> list[tuple[int, str]]:
    """When commits were made, in seconds, each with its name: an order of commits."""
    printed = vault.git.run("show", "-s", "--format=%ct", *commits).split()
    return [(int(seconds), commit) for seconds, commit in zip(printed, commits, strict=True)]


def resolve_ref(vault: Vault, ref: str) -> str | None:
    """The commit that a ref names, or None."""
    printed = vault.git.try_run("rev-parse", "--verify", "--quiet", f"{ref}^{{commit}}")
    return printed.decode().strip() if printed else None
