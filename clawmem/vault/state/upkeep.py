"""Upkeep: keeps the repository small with little memory, only when it is due, and never at a bad moment.

It needs no writer lock: git is made to pack while others commit, and to pack a large vault takes longer than a writer
may wait.
"""

from __future__ import annotations

import os
import time
from typing import NamedTuple

from clawmem.vault.git.stale_locks import abandoned_files, git_at_work
from clawmem.vault.vault import Vault

# git's defaults took 1.7 GB on large vaults elsewhere: one thread and small windows keep it under 200 MB.
_FRUGAL = (
    "pack.threads=1",
    "pack.windowMemory=48m",
    "pack.deltaCacheSize=16m",
    "core.packedGitLimit=64m",
    "core.packedGitWindowSize=16m",
    "core.bigFileThreshold=8m",
)
# Most objects are folders that differ in one entry: git's default window of 10 misses their deltas and takes six times
# the room.
_DENSE = ("--window=50", "--depth=50", "-q")
_MOST_PACKS = 12
_GROWN_BYTES = 2_000_000
_LAST_SIZE = "packed-size"
_LEFT_LOOSE = "packed-loose"
# Longer than any work that has made objects and not yet named them.
_EXPIRY = "--expire=2.weeks.ago"
_SPARE_BYTES = 32_000_000
_PATIENCE_SECONDS = 2.0
_NAP = 0.02


class UpkeepResult(NamedTuple):
    """What was done (`nothing`, `packed` new objects, `repacked` everything, left for `later`) and git's sizes before,
    in bytes; asides."""

    done: str
    loose_objects: int
    packs: int
    pack_bytes: int
    notices: tuple[str, ...] = ()

    @property
    def repacked(self) -> bool:
        """Whether anything was packed."""
        return self.done in ("packed", "repacked")


def pack_repository(vault: Vault, threshold: int) -> UpkeepResult:
    """Pack loose objects once there are `threshold` of them; repack everything, deltas computed anew, once the
    packs have doubled. At a bad moment it is left for later, with a notice that says why."""
    for path in abandoned_files(vault):
        path.unlink(missing_ok=True)
    loose, packs, size = _count(vault)
    all_anew = packs > _MOST_PACKS or size > 2 * _noted(vault, _LAST_SIZE) + _GROWN_BYTES
    if not all_anew and loose - _noted(vault, _LEFT_LOOSE) < threshold:
        return UpkeepResult("nothing", loose, packs, size)
    why_not = _bad_moment(vault, size if all_anew else 0)
    if why_not:
        return UpkeepResult("later", loose, packs, size, (f"the repository is packed later: {why_not}",))
    if all_anew:
        _git(vault, "repack", "-a", "-d", "-f", *_DENSE)
        _git(vault, "pack-refs", "--all")
        _git(vault, "prune", _EXPIRY)
    else:
        _git(vault, "repack", "-d", *_DENSE)
    left, _, packed = _count(vault)
    # What no branch leads to stays loose until it is old: it must not make every run pack again.
    _note(vault, _LEFT_LOOSE, left)
    if all_anew:
        _note(vault, _LAST_SIZE, packed)
    return UpkeepResult("repacked" if all_anew else "packed", loose, packs, size)


def _bad_moment(vault: Vault, needed: int) -> str | None:
    """Why packing must wait, or None: another git reads packs that would go, or the disk cannot hold the old ones and
    the new ones at once. `needed` is the size of the packs that are made anew, in bytes."""
    if not _gits_end(vault):
        return "another git command is at work in the vault"
    disk = os.statvfs(vault.git_dir)
    free, wanted = disk.f_bavail * disk.f_frsize, needed + _SPARE_BYTES
    if free < wanted:
        return f"{free // 1_000_000} MB are free on the disk, and it takes up to {wanted // 1_000_000} MB"
    return None


def _gits_end(vault: Vault) -> bool:
    """Whether no git works in the vault, or those that do end soon: a commit takes a hundredth of a second."""
    end = time.monotonic() + _PATIENCE_SECONDS
    while git_at_work(vault):
        if time.monotonic() > end:
            return False
        time.sleep(_NAP)
    return True


def _git(vault: Vault, *arguments: str) -> None:
    settings = [part for one in _FRUGAL for part in ("-c", one)]
    vault.git.run(*settings, *arguments)


def _count(vault: Vault) -> tuple[int, int, int]:
    printed = vault.git.run("count-objects", "-v").decode()
    rows = dict(line.split(": ", 1) for line in printed.splitlines() if ": " in line)
    return int(rows.get("count", 0)), int(rows.get("packs", 0)), int(rows.get("size-pack", 0)) * 1024


def _noted(vault: Vault, name: str) -> int:
    kept = vault.disk.read(vault.state / name) or b""
    return int(kept) if kept.isdigit() else 0


def _note(vault: Vault, name: str, number: int) -> None:
    vault.prepare_state()
    vault.disk.replace(vault.state / name, str(number).encode(), vault.state)
