"""Upkeep: keeps the repository small with little memory, under the writer lock, and only when it is due."""

from __future__ import annotations

import time
from typing import NamedTuple

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
_ABANDONED_SECONDS = 3600.0
_MOST_PACKS = 12


class Upkeep(NamedTuple):
    """Whether the repository was repacked, and the loose objects and packs there were before."""

    repacked: bool
    loose: int
    packs: int


def keep_small(vault: Vault, threshold: int, force: bool = False) -> Upkeep:
    """Repack where loose objects or packs have become many. The caller holds the writer lock."""
    _drop_abandoned(vault)
    loose, packs = _count(vault)
    due = force or loose >= threshold or packs > _MOST_PACKS
    if due:
        settings = [part for one in _FRUGAL for part in ("-c", one)]
        vault.git.run(*settings, "repack", "-a", "-d", "-q", "--window=50", "--depth=50")
        vault.git.run("prune-packed", "-q")
        vault.git.run("pack-refs", "--all")
    return Upkeep(due, loose, packs)


def _count(vault: Vault) -> tuple[int, int]:
    printed = vault.git.run("count-objects", "-v").decode()
    rows = dict(line.split(": ", 1) for line in printed.splitlines() if ": " in line)
    return int(rows.get("count", 0)), int(rows.get("packs", 0))


def _drop_abandoned(vault: Vault) -> None:
    """Remove what killed git processes left: half packs and crash reports older than an hour."""
    limit = time.time() - _ABANDONED_SECONDS
    for pattern in ("objects/pack/tmp_*", "objects/??/tmp_obj_*", "fast_import_crash_*"):
        for path in vault.git_dir.glob(pattern):
            if path.stat().st_mtime < limit:
                path.unlink(missing_ok=True)
