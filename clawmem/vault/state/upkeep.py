"""Repository maintenance: packing objects with little memory, only when needed.

It needs no writer lock: git can pack while others commit, and packing a large vault takes longer than a writer may
wait.
"""

from __future__ import annotations

import shutil
from typing import NamedTuple

from clawmem.vault.git.index import abandoned_files
from clawmem.vault.vault import Vault

# git's defaults use up to 1.7 GB on large vaults. One thread and small windows need less than 200 MB.
_LOW_MEMORY = (
    "pack.threads=1",
    "pack.windowMemory=48m",
    "pack.deltaCacheSize=16m",
    "core.packedGitLimit=64m",
    "core.packedGitWindowSize=16m",
    "core.bigFileThreshold=8m",
)
# Most objects are trees that differ in one entry. With git's default window of 10, packs are six times as large.
_DENSE = ("--window=50", "--depth=50", "-q")
# The number of new loose objects from which on they are packed.
_LOOSE_OBJECTS = 2000
_MOST_PACKS = 12
_GROWN_BYTES = 2_000_000
_LAST_SIZE = "packed-size"
_LEFT_LOOSE = "packed-loose"
# Longer than any operation that has created objects without a ref.
_EXPIRY = "--expire=2.weeks.ago"
_SPARE_BYTES = 32_000_000


class UpkeepResult(NamedTuple):
    """Whether anything was packed; notices."""

    repacked: bool
    notices: tuple[str, ...] = ()


def pack_repository(vault: Vault, threshold: int = _LOOSE_OBJECTS) -> UpkeepResult:
    """Pack loose objects if there are at least `threshold`; repack everything if the packs have doubled in size.

    On a disk without room this is left for later, with a notice: git would fill it with a part of a pack."""
    for path in abandoned_files(vault):
        path.unlink(missing_ok=True)
    loose, packs, size = _count(vault)
    repack_all = packs > _MOST_PACKS or size > 2 * _read_number(vault, _LAST_SIZE) + _GROWN_BYTES
    if not repack_all and loose - _read_number(vault, _LEFT_LOOSE) < threshold:
        return UpkeepResult(False)
    free, wanted = shutil.disk_usage(vault.git_dir).free, _SPARE_BYTES + (size if repack_all else 0)
    if free < wanted:
        room = f"{free // 1_000_000} MB are free on the disk, and packing needs up to {wanted // 1_000_000} MB"
        return UpkeepResult(False, (f"the repository will be packed later: {room}",))
    if repack_all:
        _run(vault, "repack", "-a", "-d", "-f", *_DENSE)
        _run(vault, "pack-refs", "--all")
        _run(vault, "prune", _EXPIRY)
    else:
        _run(vault, "repack", "-d", *_DENSE)
    left, _, packed = _count(vault)
    # Unreachable objects stay loose until they are old. They must not cause packing in every run.
    vault.keep(_LEFT_LOOSE, left)
    if repack_all:
        vault.keep(_LAST_SIZE, packed)
    return UpkeepResult(True)


def _run(vault: Vault, *arguments: str) -> None:
    settings = [part for text in _LOW_MEMORY for part in ("-c", text)]
    vault.git.run(*settings, *arguments)


def _count(vault: Vault) -> tuple[int, int, int]:
    printed = vault.git.run("count-objects", "-v").decode()
    rows = dict(line.split(": ", 1) for line in printed.splitlines() if ": " in line)
    return int(rows.get("count", 0)), int(rows.get("packs", 0)), int(rows.get("size-pack", 0)) * 1024


def _read_number(vault: Vault, name: str) -> int:
    kept = vault.kept(name)
    return kept if isinstance(kept, int) else 0
