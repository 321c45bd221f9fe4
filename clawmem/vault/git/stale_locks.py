"""Lock files of git's own that a killed process left behind: found, told from live ones, removed aloud."""

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
_JOINS = frozenset((b"merge", b"pull", b"rebase"))


def clear_stale_locks(vault: Vault) -> list[str]:
    """Remove git's leftover lock files and say which; the writer lock must be held.

    Where a git process is at work in the vault its lock is respected: Locked after a bounded wait. The index that a
    killed command of our own held stays held until its change is finished.
    """
    if not (vault.state / PENDING_FILE).exists():
        unlock_index(vault)
    ours = holds_index_lock(vault)
    return _cleared(vault, (path for path in lock_files(vault) if not (ours and path == index_lock_path(vault))))


def clear_index_lock(vault: Vault) -> list[str]:
    """Remove the lock on git's index if it was left behind, and say so; the writer lock must be held."""
    return _cleared(vault, [index_lock_path(vault)])


def ref_locks(vault: Vault) -> list[Path]:
    """The lock files on refs and on git's configuration: a sync changes more of them than any other command."""
    common = common_dir_of(vault.git_dir)
    return [*(path for path in files_below(common / "refs") if path.suffix == ".lock"), *common.glob("config.lock")]


def clear_ref_locks(vault: Vault) -> list[str]:
    """Remove those that were left behind, and say which; the writer lock must be held."""
    return _cleared(vault, ref_locks(vault))


def _cleared(vault: Vault, paths: Iterable[Path]) -> list[str]:
    said = []
    for path in paths:
        if _goes_by_itself(vault, path):
            continue
        path.unlink(missing_ok=True)
        said.append(f"removed {path.name}, left behind by a git process that was killed")
    return said


def remove_partial_files(vault: Vault) -> None:
    """Remove half-written files of processes that were killed; the writer lock must be held."""
    for half in vault.state.glob(f"{PARTIAL_PREFIX}*"):
        vault.disk.remove(half)


def partial_objects(vault: Vault) -> list[Path]:
    """Packs and objects of git's that were not written to their end, or not yet."""
    objects = files_below(common_dir_of(vault.git_dir) / "objects")
    return [path for path in objects if path.name.startswith(("tmp_", ".tmp-"))]


def abandoned_files(vault: Vault) -> list[Path]:
    """What killed gits left of their own files: half packs and objects, halves of merges, crash reports. All are older
    than an hour, and no git is at work that could still need one."""
    limit = time.time() - _ABANDONED_SECONDS
    found = (*partial_objects(vault), *vault.root.glob(".merge_file_*"), *vault.git_dir.glob("fast_import_crash_*"))
    old = [path for path in found if _is_older(path, limit)]
    return [] if old and git_at_work(vault) else old


def _is_older(path: Path, limit: float) -> bool:
    try:
        return path.lstat().st_mtime < limit
    except FileNotFoundError:
        return False  # another git's, which finished


def clear_crash_reports(vault: Vault) -> None:
    """Remove what `git fast-import` leaves when it fails: its report repeats the text that was to be written."""
    for path in vault.git_dir.glob("fast_import_crash_*"):
        vault.disk.remove(path)


def lock_files(vault: Vault) -> list[Path]:
    """The locks that stand in the way of a change: on the index, HEAD, the branch, packed refs, and on git's settings,
    which the first command in a new clone writes."""
    common = common_dir_of(vault.git_dir)
    candidates = [index_lock_path(vault), vault.git_dir / "HEAD.lock"]
    candidates += [common / "packed-refs.lock", common / "config.lock"]
    branch = vault.head().branch
    if branch:
        candidates.append(common / f"{branch}.lock")
    return [path for path in candidates if path.exists()]


def _goes_by_itself(vault: Vault, path: Path) -> bool:
    """Give a live git time to finish; False where no git holds the lock any more. Raises Locked in the end."""
    start = time.monotonic()
    while (held := _identity(path)) is not None:
        waited = time.monotonic() - start
        at_work = _git_at_work(vault, path)
        # The same lock after the look as before it: else a git ended or began meanwhile.
        if not at_work and waited > _SURELY_DEAD and _identity(path) == held:
            return False
        if at_work and waited > _LONGEST_WAIT:
            raise Locked(
                f"A git command is at work in the vault and holds {path.name}.", "Try again when it has finished."
            )
        time.sleep(_NAP)
    return True


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        facts = path.stat()
    except FileNotFoundError:
        return None
    return facts.st_ino, facts.st_ctime_ns


def git_at_work(vault: Vault) -> bool:
    """Whether a git process works in the vault, such as one that serves a clone; False where they cannot be seen."""
    processes = Path("/proc")
    if not sys.platform.startswith("linux") or not (processes / "self").exists():
        return False
    places = {vault.root.resolve(), vault.git_dir.resolve()}
    return any(_is_git_in(entry, places, vault.git_dir / "none") for entry in _processes())


def merge_at_work(vault: Vault) -> bool:
    """Whether a git merges, pulls or rebases in the vault; False where processes cannot be seen."""
    if not sys.platform.startswith("linux") or not Path("/proc/self").exists():
        return False
    places = {vault.root.resolve(), vault.git_dir.resolve()}
    return any(_joins(entry) and _is_git_in(entry, places, vault.git_dir / "none") for entry in _processes())


def _joins(process: Path) -> bool:
    try:
        words = (process / "cmdline").read_bytes().split(b"\0")
    except OSError:
        return False  # it ended meanwhile, or is not ours to see
    return words[0].rpartition(b"/")[2] == b"git" and not _JOINS.isdisjoint(words)


def _processes() -> list[Path]:
    return [entry for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def _git_at_work(vault: Vault, lock: Path) -> bool:
    """Whether some live process holds the lock: a git in the vault, or anything that has the lock file open.

    Where processes cannot be seen, a lock counts as held until it is ten minutes old.
    """
    processes = Path("/proc")
    if not sys.platform.startswith("linux") or not (processes / "self").exists():
        return _is_young(lock)
    places = {vault.root.resolve(), vault.git_dir.resolve()}
    return any(_is_git_in(entry, places, lock) or _has_open(entry, lock.resolve()) for entry in _processes())


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
        return _is_young(lock)  # somebody else's git, and no way to know where it works
    except OSError:
        return False  # it ended meanwhile


def _has_open(process: Path, lock: Path) -> bool:
    try:
        entries = list((process / "fd").iterdir())
    except OSError:
        return False  # it ended meanwhile, or belongs to somebody else
    return any(_leads_to(entry, lock) for entry in entries)


def _leads_to(entry: Path, lock: Path) -> bool:
    try:
        return entry.readlink() == lock
    except OSError:
        return False  # closed meanwhile
