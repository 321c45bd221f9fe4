"""Locking git's index while the branch moves, so that no other git commits from an outdated index.

git refuses to commit while `index.lock` exists. clawmem creates the lock before the branch moves and removes it when
the index matches the new commit. Without it, a `git commit` by the user at that moment would revert our change. If
clawmem is killed, the lock stays and contains our mark. The next command keeps it, finishes the change, and removes it.

`git merge` and `git pull` release that lock between their steps. If a step fails, they restore files and index to the
HEAD at which they began. So clawmem waits for them before the branch moves and before it removes the lock.

Lock files of git that a killed process left behind are told apart from live ones, and removed with a notice.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from clawmem.errors import Locked
from clawmem.vault.disk import PARTIAL_PREFIX, files_below
from clawmem.vault.git.refs import PENDING_FILE, common_dir_of
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
    return git_at_work(vault, merges_only=True)


@contextmanager
def replace_index(vault: Vault) -> Iterator[None]:
    """Let git work on a copy of the index inside this context, then replace the index with it. Requires
    `lock_index`."""
    copy, index = vault.state / _COPY, vault.git_dir / "index"
    vault.disk.remove(copy.with_name(f"{_COPY}.lock"))  # left by a killed git; no other process uses the copy
    data = vault.disk.read(index)
    if data is None:
        vault.disk.remove(copy)
    else:
        vault.disk.replace(copy, data, vault.state)
        # Files that are not older than the index are compared by their contents.
        os.utime(copy, ns=(0, os.stat(index).st_mtime_ns))  # noqa: PTH116
    with vault.git.with_environment({"GIT_INDEX_FILE": str(copy)}):
        yield
    vault.disk.move(copy, index)


_OLD_ENOUGH = 600.0
_ABANDONED_SECONDS = 3600.0
_LONGEST_WAIT = 2.0
_SURELY_DEAD = 0.05
_LOOK_AGAIN = 0.01
_MERGE_COMMANDS = frozenset((b"merge", b"pull", b"rebase"))


def clear_stale_locks(vault: Vault) -> list[str]:
    """Remove stale lock files of git and return notices about them. Requires the writer lock.

    The lock of a running git process is respected: raise Locked after a bounded wait. A lock on the index that a killed
    clawmem process created stays until its change is finished.
    """
    if not (vault.state / PENDING_FILE).exists():
        unlock_index(vault)
    ours = holds_index_lock(vault)
    return clear_locks(vault, (path for path in lock_files(vault) if not (ours and path == index_lock_path(vault))))


def ref_locks(vault: Vault) -> list[Path]:
    """Return the lock files on refs and on git's configuration. A sync changes more of them than other commands."""
    common = common_dir_of(vault.git_dir)
    return [*(path for path in files_below(common / "refs") if path.suffix == ".lock"), *common.glob("config.lock")]


def clear_ref_locks(vault: Vault) -> list[str]:
    """Remove the stale ones of `ref_locks` and return notices. Requires the writer lock."""
    return clear_locks(vault, ref_locks(vault))


def clear_locks(vault: Vault, paths: Iterable[Path]) -> list[str]:
    """Remove the stale ones of some lock files and return notices. Requires the writer lock."""
    notices = []
    for path in paths:
        if _was_released(vault, path):
            continue
        path.unlink(missing_ok=True)
        notices.append(f"removed {path.name}, left behind by a git process that was killed")
    return notices


def remove_partial_files(vault: Vault) -> None:
    """Remove partial files of killed processes. Requires the writer lock."""
    for partial in vault.state.glob(f"{PARTIAL_PREFIX}*"):
        vault.disk.remove(partial)


def partial_objects(vault: Vault) -> list[Path]:
    """Return incomplete packs and objects of git, left behind or still being written."""
    objects = files_below(common_dir_of(vault.git_dir) / "objects")
    return [path for path in objects if path.name.startswith(("tmp_", ".tmp-"))]


def abandoned_files(vault: Vault) -> list[Path]:
    """Return files that killed git processes left: partial packs and objects, merge temporaries, crash reports.

    All of them are older than an hour, and no running git process could still need them.
    """
    limit = time.time() - _ABANDONED_SECONDS
    found = (*partial_objects(vault), *vault.root.glob(".merge_file_*"), *vault.git_dir.glob("fast_import_crash_*"))
    old = [path for path in found if _is_older(path, limit)]
    return [] if old and git_at_work(vault) else old


def _is_older(path: Path, limit: float) -> bool:
    try:
        return path.lstat().st_mtime < limit
    except FileNotFoundError:
        return False  # its git process has finished


def clear_crash_reports(vault: Vault) -> None:
    """Remove the crash reports of `git fast-import`, because they repeat the text that was to be written."""
    for path in vault.git_dir.glob("fast_import_crash_*"):
        vault.disk.remove(path)


def lock_files(vault: Vault) -> list[Path]:
    """Return the existing locks that block a change: on the index, HEAD, the branch, packed refs and git's
    configuration."""
    common = common_dir_of(vault.git_dir)
    candidates = [index_lock_path(vault), vault.git_dir / "HEAD.lock"]
    candidates += [common / "packed-refs.lock", common / "config.lock"]
    branch = vault.head().branch
    if branch:
        candidates.append(common / f"{branch}.lock")
    return [path for path in candidates if path.exists()]


def _was_released(vault: Vault, path: Path) -> bool:
    """Wait for a running git process to release the lock. Return False if no process holds it. Raise Locked in the
    end."""
    start = time.monotonic()
    while (before := _identity(path)) is not None:
        waited = time.monotonic() - start
        at_work = _git_at_work(vault, path)
        # Compare the lock before and after the look: git may have ended or started meanwhile.
        if not at_work and waited > _SURELY_DEAD and _identity(path) == before:
            return False
        if at_work and waited > _LONGEST_WAIT:
            raise Locked(
                f"A git command is running in the vault and holds {path.name}.", "Try again when it has finished."
            )
        time.sleep(_LOOK_AGAIN)
    return True


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except FileNotFoundError:
        return None
    return status.st_ino, status.st_ctime_ns


def git_at_work(vault: Vault, merges_only: bool = False) -> bool:
    """Return whether a git process runs in the vault, or one that merges, pulls or rebases. False if processes cannot
    be listed."""
    places, entries = {vault.root.resolve(), vault.git_dir.resolve()}, _processes() or ()
    wanted = filter(_is_merge, entries) if merges_only else entries
    return any(_is_git_in(entry, places, vault.git_dir / "none") for entry in wanted)


def _is_merge(process: Path) -> bool:
    try:
        words = (process / "cmdline").read_bytes().split(b"\0")
    except OSError:
        return False  # it ended meanwhile, or is not visible
    return words[0].rpartition(b"/")[2] == b"git" and not _MERGE_COMMANDS.isdisjoint(words)


def _processes() -> list[Path] | None:
    """Return the folders of all processes, or None if they cannot be listed."""
    if not sys.platform.startswith("linux") or not Path("/proc/self").exists():
        return None
    return [entry for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def _git_at_work(vault: Vault, lock: Path) -> bool:
    """Return whether a running process holds the lock: git in the vault, or any process that has the file open.

    If processes cannot be listed, a lock counts as held until it is ten minutes old.
    """
    processes, places = _processes(), {vault.root.resolve(), vault.git_dir.resolve()}
    if processes is None:
        return _is_young(lock)
    return any(_is_git_in(entry, places, lock) or _has_open(entry, lock.resolve()) for entry in processes)


def _is_young(lock: Path) -> bool:
    try:
        return time.time() - lock.stat().st_mtime < _OLD_ENOUGH
    except FileNotFoundError:
        return False


def _is_git_in(process: Path, places: set[Path], lock: Path) -> bool:
    try:
        if not (process / "comm").read_text().startswith("git"):
            return False
        return any((process / "cwd").readlink().is_relative_to(place) for place in places)
    except PermissionError:
        return _is_young(lock)  # another user's git, whose folder is not visible
    except OSError:
        return False  # it ended meanwhile


def _has_open(process: Path, lock: Path) -> bool:
    try:
        entries = list((process / "fd").iterdir())
    except OSError:
        return False  # it ended meanwhile, or belongs to another user
    return any(_leads_to(entry, lock) for entry in entries)


def _leads_to(entry: Path, lock: Path) -> bool:
    try:
        return entry.readlink() == lock
    except OSError:
        return False  # closed meanwhile
