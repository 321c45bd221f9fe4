"""A hidden folder beside what is being made, so that it can be put in place in one step, whole or not at all."""

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
# Longer than it takes from making the folder to locking it.
_UNLOCKED_SECONDS = 60


class Staging(NamedTuple):
    """The folder, and the descriptor of its lock: whoever inherits it keeps the folder from being swept."""

    folder: Path
    descriptor: int

    def git(self, root: Path, like: Git) -> Git:
        """git in a repository in the folder, with the environment of another."""
        mine = Git(root, like.environment)
        mine.inherited_descriptors = (self.descriptor,)
        return mine


@contextmanager
def staging(target: Path) -> Iterator[Staging]:
    """A new folder beside `target`, removed in the end whatever happens, with those that killed processes left."""
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
    """The folders that lead to `target`, made where they are missing, and gone again where what follows fails."""
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
    """The folders beside `target` in which it was being made."""
    start = f".{target.name}."
    names = [name for name in os.listdir(target.parent) if name.startswith(start) and name.endswith(_ENDING)]  # noqa: PTH208
    return [target.with_name(name) for name in sorted(names) if name[len(start) :].count(".") == 2]


def _sweep(target: Path) -> None:
    for folder in leftover_folders(target):
        # Its process holds the lock as long as it lives, and so does every git it started; but not from the beginning.
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
