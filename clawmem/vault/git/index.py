"""Locking git's index while the branch moves, so that no other git commits from an outdated index.

git refuses to commit while `index.lock` exists. clawmem creates the lock before the branch moves and removes it when
the index matches the new commit. Without it, a `git commit` by the user at that moment would revert our change. If
clawmem is killed, the lock stays and contains our mark. The next command keeps it, finishes the change, and removes it.

`git merge` and `git pull` release that lock between their steps. If a step fails, they restore files and index to the
HEAD at which they began. So clawmem waits for them before the branch moves and before it removes the lock.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from clawmem.errors import Locked
from clawmem.vault.vault import Vault

ADD_TO_INDEX = ("update-index", "--add", "--chmod=-x", "-z", "--stdin")
REMOVE_FROM_INDEX = ("update-index", "--force-remove", "-z", "--stdin")
_MARK = b"clawmem\n"
_COPY = "git-index"
_SOON = 0.2
_NAP = 0.005
_PATIENCE = 3.0
_LONGEST_MERGE = 60.0


def index_lock_path(vault: Vault) -> Path:
    """Return the path of git's lock on its index."""
    return vault.git_dir / "index.lock"


def holds_index_lock(vault: Vault) -> bool:
    """Return whether clawmem created the lock: this process or a killed one. Requires the writer lock."""
    return vault.disk.read(index_lock_path(vault)) == _MARK


def lock_index(vault: Vault) -> list[str]:
    """Lock git's index. Requires the writer lock. Return notices about stale locks that were removed.

    Raise Locked, with nothing changed, if another git process keeps the index for longer than a few seconds.
    """
    path, start, notices = index_lock_path(vault), time.monotonic(), list[str]()
    while True:
        if vault.disk.create(path, _MARK):
            if not is_merging(vault):
                return notices
            vault.disk.remove(path)
        elif holds_index_lock(vault):
            return notices
        waited = time.monotonic() - start
        if waited > _PATIENCE:
            raise Locked("Another git command is running in the vault.", "Try again when it has finished.")
        if waited > _SOON:
            from clawmem.vault.git.stale_locks import clear_locks  # most git commands end before that

            notices += clear_locks(vault, [path])
        time.sleep(_NAP)


def unlock_index(vault: Vault) -> None:
    """Remove the lock on git's index if clawmem created it."""
    if not holds_index_lock(vault):
        return
    end = time.monotonic() + _PATIENCE
    while is_merging(vault) and time.monotonic() < end:
        time.sleep(_NAP)
    vault.disk.remove(index_lock_path(vault))


def is_merging(vault: Vault) -> bool:
    """Return whether git is merging or pulling here now. git writes ORIG_HEAD when it begins."""
    try:
        began = os.stat(vault.git_dir / "ORIG_HEAD").st_mtime  # noqa: PTH116 - on every writer's path
    except OSError:
        return False
    if abs(time.time() - began) > _LONGEST_MERGE:
        return False
    from clawmem.vault.git.stale_locks import git_at_work  # reads the list of processes

    return git_at_work(vault, merges_only=True)


@contextmanager
def replace_index(vault: Vault) -> Iterator[None]:
    """Let git work on a copy of the index inside this context, then replace the index with it. Requires
    `lock_index`."""
    scanned = _copy_index(vault)
    with vault.git.with_environment({"GIT_INDEX_FILE": str(vault.state / _COPY)}):
        yield
    _put_index(vault, scanned)


def _copy_index(vault: Vault) -> int | None:
    """Copy the index, and return its time in nanoseconds, or None if there is no index."""
    copy, index = vault.state / _COPY, vault.git_dir / "index"
    vault.disk.remove(copy.with_name(f"{_COPY}.lock"))  # left by a killed git; no other process uses the copy
    data = vault.disk.read(index)
    if data is None:
        vault.disk.remove(copy)
        return None
    vault.disk.replace(copy, data, vault.state)
    scanned = os.stat(index).st_mtime_ns  # noqa: PTH116
    os.utime(copy, ns=(0, scanned))
    return scanned


def _put_index(vault: Vault, scanned: int | None) -> None:
    """Replace the index with its copy.

    The index keeps its time. Git checks files and folders again that are not older than its index, because many
    builds compare whole seconds. With a new time, git would trust its cache of untracked files for a folder that
    changed in the second of the last scan, and would never report a new file there.
    """
    copy = vault.state / _COPY
    if scanned is not None:
        os.utime(copy, ns=(0, scanned))
    vault.disk.move(copy, vault.git_dir / "index")


def index_age(vault: Vault) -> float:
    """Return the seconds since git last compared its whole index with the files; 0 without an index."""
    try:
        return time.time() - os.stat(vault.git_dir / "index").st_mtime  # noqa: PTH116
    except FileNotFoundError:
        return 0.0
