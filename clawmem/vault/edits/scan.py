"""Finding edits made by hand: git compares the work tree with HEAD while other work goes on."""

import subprocess
from collections.abc import Iterable, Mapping

from clawmem.errors import ClawmemError
from clawmem.model.named_tuple import NamedTuple
from clawmem.model.records.layout import OWNED_FOLDERS, is_owned
from clawmem.model.safety.secrets.find import find_secret
from clawmem.vault.vault import Vault

# `normal` reports a new folder, not its files. Git's cache of untracked files works only in this mode.
_STATUS = ("status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=normal", "--ignore-submodules=all")
_AT_ONCE = 200


class HandEdits(NamedTuple):
    """Files of clawmem that differ from HEAD.

    `good` are those that can be committed, with their contents (None: deleted). `bad` are the others, with the reason.
    """

    good: Mapping[str, bytes | None]
    bad: tuple[tuple[str, ClawmemError], ...]


def start_scan(vault: Vault) -> subprocess.Popen[bytes]:
    """Start git looking for changed files."""
    return vault.git.start(*_STATUS)


def remember_untracked(vault: Vault) -> None:
    """Let git cache the list of untracked files in its index, which halves the time of a scan of a large vault.

    A scan never writes the index, so this is for maintenance and for changes of many files.
    """
    with vault.git.with_environment({"GIT_OPTIONAL_LOCKS": "1"}):
        printed = vault.git.run(*_STATUS)
    if find_secret(printed.decode(errors="replace")) is not None:
        forget_untracked(vault)


def forget_untracked(vault: Vault) -> None:
    """Remove the cache of untracked files from git's index, because a file name is, or its file contains, a
    credential."""
    vault.git.run("update-index", "--no-untracked-cache")


def finish_scan(vault: Vault, scan: subprocess.Popen[bytes]) -> tuple[str, ...]:
    """Return clawmem's files that differ from HEAD, including new and deleted ones."""
    printed = vault.git.finish(scan, "status").decode(errors="surrogateescape")
    paths = {entry[3:] for entry in printed.split("\0")}
    folders = [path for path in paths if path.endswith("/") and path.startswith(OWNED_FOLDERS)]
    if folders:
        paths |= _new_files(vault, folders)
    return tuple(sorted(path for path in paths if is_owned(path)))


def _new_files(vault: Vault, folders: Iterable[str]) -> set[str]:
    """Return the untracked files in new folders, without ignored files and nested repositories."""
    names = [f":(literal){folder}" for folder in folders]
    found: set[str] = set()
    # There may be more new folders than one command line can hold.
    for start in range(0, len(names), _AT_ONCE):
        some = names[start : start + _AT_ONCE]
        printed = vault.git.run("ls-files", "-z", "--others", "--exclude-standard", "--", *some)
        found.update(printed.decode(errors="surrogateescape").split("\0"))
    return found
