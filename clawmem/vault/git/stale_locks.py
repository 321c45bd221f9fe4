"""Lock files of git that a killed process left behind: found, told apart from live ones, and removed with a notice."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from pathlib import Path

from clawmem.errors import Locked
from clawmem.vault.disk import PARTIAL_PREFIX, files_below
from clawmem.vault.git.index import holds_index_lock, index_lock_path, unlock_index
from clawmem.vault.git.refs import PENDING_FILE, common_dir_of
from clawmem.vault.vault import Vault

_OLD_ENOUGH = 600.0
_ABANDONED_SECONDS = 3600.0
_LONGEST_WAIT = 2.0
_SURELY_DEAD = 0.05
_NAP = 0.01
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
        time.sleep(_NAP)
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
