"""git's index, held by its own lock while the branch moves: no other git commits from what it said before.

git refuses a commit while `index.lock` is there. Held from before the branch moves until the index says what the new
commit says, it leaves no moment at which a person's `git commit` would take our change back. Killed meanwhile, the lock
stays and bears our mark: the next command goes on holding it, finishes the change, and lets go.

`git merge` and `git pull` let go of that lock between their steps, and where one fails they put files and index back to
what HEAD was when they began. So they are waited for: before the branch moves, and before the index is given back.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from clawmem.errors import Locked
from clawmem.vault.vault import Vault

_MARK = b"clawmem\n"
_COPY = "git-index"
_SOON = 0.2
_NAP = 0.005
_PATIENCE = 3.0
_LONGEST_JOIN = 60.0


def index_lock_path(vault: Vault) -> Path:
    """Where git locks its index."""
    return vault.git_dir / "index.lock"


def holds_index_lock(vault: Vault) -> bool:
    """Whether the lock is one of ours: of this process or of one that was killed. The writer lock must be held."""
    return vault.disk.read(index_lock_path(vault)) == _MARK


def lock_index(vault: Vault) -> list[str]:
    """Keep every other git from the index; the writer lock must be held. Says which lock of a killed git was in the
    way. Raises Locked where another git keeps the index for longer than a moment; nothing has happened then."""
    path, start, said = index_lock_path(vault), time.monotonic(), list[str]()
    while True:
        if vault.disk.create(path, _MARK):
            if not _is_joining(vault):
                return said
            vault.disk.remove(path)
        elif holds_index_lock(vault):
            return said
        waited = time.monotonic() - start
        if waited > _PATIENCE:
            raise Locked("Another git command is at work in the vault.", "Try again when it has finished.")
        if waited > _SOON:
            from clawmem.vault.git.stale_locks import clear_index_lock  # most gits let go before that

            said += clear_index_lock(vault)
        time.sleep(_NAP)


def unlock_index(vault: Vault) -> None:
    """Give the index back to other gits, where we hold it."""
    if not holds_index_lock(vault):
        return
    end = time.monotonic() + _PATIENCE
    while _is_joining(vault) and time.monotonic() < end:
        time.sleep(_NAP)
    vault.disk.remove(index_lock_path(vault))


def _is_joining(vault: Vault) -> bool:
    """Whether git merges or pulls here at this moment: it notes where HEAD was when it begins."""
    try:
        began = os.stat(vault.git_dir / "ORIG_HEAD").st_mtime  # noqa: PTH116 - on every writer's path
    except OSError:
        return False
    if abs(time.time() - began) > _LONGEST_JOIN:
        return False
    from clawmem.vault.git.stale_locks import merge_at_work  # looks at every process

    return merge_at_work(vault)


@contextmanager
def replace_index(vault: Vault) -> Iterator[None]:
    """What git does to the index in here, it does to a copy, which takes the index's place in the end. The index must
    be held."""
    copy, index = vault.state / _COPY, vault.git_dir / "index"
    vault.disk.remove(copy.with_name(f"{_COPY}.lock"))  # of a git that was killed: nobody else works on the copy
    data = vault.disk.read(index)
    if data is None:
        vault.disk.remove(copy)
    else:
        vault.disk.replace(copy, data, vault.state)
        # git looks closer at files that are as young as its index.
        os.utime(copy, ns=(0, os.stat(index).st_mtime_ns))  # noqa: PTH116
    with vault.git.with_environment({"GIT_INDEX_FILE": str(copy)}):
        yield
    vault.disk.move(copy, index)
