"""Looking for edits made by hand: what differs from HEAD, found by git while other work goes on."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from clawmem.errors import ClawmemError
from clawmem.model.records.layout import OWNED_FOLDERS, is_owned
from clawmem.model.safety.secrets.find import find_secret
from clawmem.vault.vault import Vault

# New folders come as folders, not file by file: only so can git's cache of untracked files help.
_STATUS = ("status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=normal", "--ignore-submodules=all")
_AT_ONCE = 200


class HandEdits(NamedTuple):
    """Owned files that differ from HEAD: those fit to be committed with what they hold (None: deleted), and why
    each other one is not."""

    good: Mapping[str, bytes | None]
    bad: tuple[tuple[str, ClawmemError], ...]


def start_scan(vault: Vault) -> subprocess.Popen[bytes]:
    """Start git looking for changed files, so that other work can go on meanwhile."""
    return vault.git.start(*_STATUS)


def remember_untracked(vault: Vault) -> None:
    """Let git keep what it learns about new files in its index: with that a scan of a large vault takes half as long.

    Scans themselves never write the index, so this is for upkeep and for changes of many files.
    """
    with vault.git.with_environment({"GIT_OPTIONAL_LOCKS": "1"}):
        printed = vault.git.run(*_STATUS)
    if find_secret(printed.decode(errors="replace")) is not None:
        forget_untracked(vault)


def forget_untracked(vault: Vault) -> None:
    """Take the names of new files out of git's index: one of them is, or holds, a credential."""
    vault.git.run("update-index", "--no-untracked-cache")


def finish_scan(vault: Vault, scan: subprocess.Popen[bytes]) -> tuple[str, ...]:
    """The owned files that differ from HEAD, new and deleted ones included."""
    printed = vault.git.finish(scan, "status").decode(errors="surrogateescape")
    paths = {entry[3:] for entry in printed.split("\0")}
    folders = [path for path in paths if path.endswith("/") and path.startswith(OWNED_FOLDERS)]
    if folders:
        paths |= _new_files(vault, folders)
    return tuple(sorted(path for path in paths if is_owned(path)))


def _new_files(vault: Vault, folders: Iterable[str]) -> set[str]:
    """The files in new folders, as git sees them: without what is ignored and what is another repository's."""
    names = [f":(literal){folder}" for folder in folders]
    found: set[str] = set()
    # More of them than the system takes as arguments may be new at once.
    for start in range(0, len(names), _AT_ONCE):
        some = names[start : start + _AT_ONCE]
        printed = vault.git.run("ls-files", "-z", "--others", "--exclude-standard", "--", *some)
        found.update(printed.decode(errors="surrogateescape").split("\0"))
    return found
