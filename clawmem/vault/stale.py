"""Lock files of git's own that a killed process left behind: found, told from live ones, removed aloud."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

from clawmem.errors import Locked
from clawmem.vault.refs import common_dir_of
from clawmem.vault.vault import Vault

_OLD_ENOUGH = 600.0
_LONGEST_WAIT = 2.0


def clear_stale_locks(vault: Vault) -> list[str]:
    """Remove git's leftover lock files and say which; the writer lock must be held.

    Where a git process is at work in the vault its lock is respected: Locked after a bounded wait.
    """
    said = []
    for path in _lock_files(vault):
        if _waited_out(path):
            continue
        if _git_at_work(vault, path):
            raise Locked(
                f"A git command is at work in the vault and holds {path.name}.", "Try again when it has finished."
            )
        path.unlink(missing_ok=True)
        said.append(f"removed {path.name}, left behind by a git process that was killed")
    return said


def _lock_files(vault: Vault) -> list[Path]:
    common = common_dir_of(vault.git_dir)
    candidates = [vault.git_dir / "index.lock", vault.git_dir / "HEAD.lock", common / "packed-refs.lock"]
    branch = vault.head().branch
    if branch:
        candidates.append(common / f"{branch}.lock")
    return [path for path in candidates if path.exists()]


def _waited_out(path: Path) -> bool:
    """Give a live git a moment to finish; True where the lock went away by itself."""
    if sys.platform.startswith("linux"):
        deadline = time.monotonic() + 0.05
    else:
        deadline = time.monotonic() + _LONGEST_WAIT
    while time.monotonic() < deadline:
        if not path.exists():
            return True
        time.sleep(0.01)
    return not path.exists()


def _git_at_work(vault: Vault, lock: Path) -> bool:
    processes = Path("/proc")
    if not sys.platform.startswith("linux") or not (processes / "self").exists():
        try:
            return time.time() - lock.stat().st_mtime < _OLD_ENOUGH
        except FileNotFoundError:
            return False
    places = {vault.root.resolve(), vault.git_dir.resolve()}
    return any(_is_git_in(entry, places) for entry in processes.iterdir() if entry.name.isdigit())


def _is_git_in(process: Path, places: set[Path]) -> bool:
    try:
        if not (process / "comm").read_text().startswith("git"):
            return False
        return any(Path(os.readlink(process / "cwd")).is_relative_to(place) for place in places)
    except OSError:
        return False  # it ended meanwhile, or belongs to somebody else
