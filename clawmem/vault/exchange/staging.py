"""A hidden folder beside a target in which it is prepared, so that it can be moved into place in one step."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from clawmem.errors import Locked
from clawmem.vault.git.git import Git
from clawmem.vault.lock import writer_lock

_ENDING = ".making"
# Longer than it takes to create the folder and lock it.
_UNLOCKED_SECONDS = 60


class Staging(NamedTuple):
    """The folder and the descriptor of its lock. A process that inherits the descriptor keeps the folder from being
    deleted."""

    folder: Path
    descriptor: int

    def git(self, root: Path, like: Git) -> Git:
        """Return git for a repository in the folder, with the environment of another."""
        mine = Git(root, like.environment)
        mine.inherited_descriptors = (self.descriptor,)
        return mine


@contextmanager
def staging(target: Path) -> Iterator[Staging]:
    """Yield a new folder beside `target`. It is deleted in the end, with those that killed processes left behind."""
    _sweep(target)
    folder = target.with_name(f".{target.name}.{os.getpid()}.{time.time_ns():x}{_ENDING}")
    folder.mkdir(mode=0o700)
    try:
        with writer_lock(folder / "lock", 0, "making") as descriptor:
            yield Staging(folder, descriptor)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def create_parents(target: Path) -> Iterator[None]:
    """Create the missing parent folders of `target`, and delete them again if the code in this context fails."""
    missing = [folder for folder in target.parents if not folder.exists()]
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        yield
    except BaseException:
        for folder in missing:
            with suppress(OSError):
                folder.rmdir()
        raise


def leftover_folders(target: Path) -> list[Path]:
    """Return the staging folders beside `target`."""
    start = f".{target.name}."
    names = [name for name in os.listdir(target.parent) if name.startswith(start) and name.endswith(_ENDING)]  # noqa: PTH208
    return [target.with_name(name) for name in sorted(names) if name[len(start) :].count(".") == 2]


def _sweep(target: Path) -> None:
    for folder in leftover_folders(target):
        # A process and its git commands hold the lock while they run, except for a moment at the start.
        process, made = folder.name.removeprefix(f".{target.name}.").removesuffix(_ENDING).split(".")
        if _is_young(made) and _is_alive(process):
            continue
        try:
            with writer_lock(folder / "lock", 0, "sweeping"):
                shutil.rmtree(folder, ignore_errors=True)
        except FileNotFoundError:
            shutil.rmtree(folder, ignore_errors=True)
        except (Locked, PermissionError):
            continue


def _is_young(made: str) -> bool:
    try:
        return time.time() - int(made, 16) / 1e9 < _UNLOCKED_SECONDS
    except ValueError:
        return False


def _is_alive(process: str) -> bool:
    try:
        os.kill(int(process), 0)
    except (ValueError, ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True
