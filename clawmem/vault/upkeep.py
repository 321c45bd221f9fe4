"""Upkeep: keeps the repository small with little memory, under the writer lock, and only when it is due."""

from __future__ import annotations

import time
from typing import NamedTuple

from clawmem.vault.scan import remember_untracked
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
_ABANDONED_SECONDS = 3600.0
_MOST_PACKS = 12
_GROWN_BYTES = 2_000_000
_LAST_SIZE = "packed-size"


class Upkeep(NamedTuple):
    """What was done (`nothing`, `packed` new objects, `repacked` everything) and git's sizes before, in bytes."""

    done: str
    loose_objects: int
    packs: int
    pack_bytes: int

    @property
    def repacked(self) -> bool:
        """Whether anything was packed."""
        return self.done != "nothing"


def keep_small(vault: Vault, threshold: int) -> Upkeep:
    """Pack loose objects once there are `threshold` of them; repack everything, deltas computed anew, once the
    packs have doubled. The caller holds the writer lock."""
    _drop_abandoned(vault)
    remember_untracked(vault)
    loose, packs, size = _count(vault)
    if packs > _MOST_PACKS or size > 2 * _last_size(vault) + _GROWN_BYTES:
        _git(vault, "repack", "-a", "-d", "-f", *_DENSE)
        _git(vault, "pack-refs", "--all")
        vault.disk.replace(vault.state / _LAST_SIZE, str(_count(vault)[2]).encode(), vault.state)
        return Upkeep("repacked", loose, packs, size)
    if loose >= threshold:
        _git(vault, "repack", "-d", *_DENSE)
        return Upkeep("packed", loose, packs, size)
    return Upkeep("nothing", loose, packs, size)


def _git(vault: Vault, *arguments: str) -> None:
    settings = [part for one in _FRUGAL for part in ("-c", one)]
    vault.git.run(*settings, *arguments)


def _count(vault: Vault) -> tuple[int, int, int]:
    printed = vault.git.run("count-objects", "-v").decode()
    rows = dict(line.split(": ", 1) for line in printed.splitlines() if ": " in line)
    return int(rows.get("count", 0)), int(rows.get("packs", 0)), int(rows.get("size-pack", 0)) * 1024


def _last_size(vault: Vault) -> int:
    kept = vault.disk.read(vault.state / _LAST_SIZE) or b""
    return int(kept) if kept.isdigit() else 0


def _drop_abandoned(vault: Vault) -> None:
    """Remove what killed git processes left: half packs and crash reports older than an hour."""
    limit = time.time() - _ABANDONED_SECONDS
    for pattern in ("objects/pack/tmp_*", "objects/??/tmp_obj_*", "fast_import_crash_*"):
        for path in vault.git_dir.glob(pattern):
            if path.stat().st_mtime < limit:
                path.unlink(missing_ok=True)
