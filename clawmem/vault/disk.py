"""The few ways clawmem touches files, in one place so that each can be made to fail in a test."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

HALF = "half-"


class Disk:
    """Plain file operations; every write is whole or not at all."""

    def read(self, path: Path) -> bytes | None:
        """The file's bytes, or None where there is no such file."""
        try:
            with open(path, "rb") as file:  # noqa: PTH123 - Path.open costs twice as much here
                return file.read()
        except (FileNotFoundError, NotADirectoryError):
            return None

    def replace(self, path: Path, data: bytes, staging: Path) -> None:
        """Put `data` at `path` in one step; `staging` is a folder for the half-written file.

        A file that was there keeps its permissions.
        """
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            _swap_in(staging / f"{HALF}{os.getpid()}", path, data)
        except OSError as problem:
            if problem.errno != errno.EXDEV:
                raise
            _swap_in(beside(path), path, data)

    def remove(self, path: Path) -> None:
        """Remove a file; a missing one is fine."""
        with suppress(FileNotFoundError, NotADirectoryError):
            path.unlink()

    def append(self, path: Path, data: bytes) -> None:
        """Add bytes to the end of a file in one write, making the file where it is missing."""
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            write_whole(descriptor, data)
        finally:
            os.close(descriptor)


def files_below(folder: Path, leaving_out: str | None = None) -> Iterator[Path]:
    """Every file below a folder, but for those in folders of one name. A folder that goes meanwhile, as git clears away
    its own, counts as empty; one that cannot be read raises OSError."""
    for where, folders, names in os.walk(folder, onerror=_unless_gone):
        folders[:] = [name for name in folders if name != leaving_out]
        yield from (Path(where, name) for name in names)


def _unless_gone(problem: OSError) -> None:
    if not isinstance(problem, FileNotFoundError | NotADirectoryError):
        raise problem


def beside(path: Path) -> Path:
    """Where the half-written form of a file lies when git's folder is on another disk."""
    return path.with_name(f".{path.name}.half")


def write_whole(descriptor: int, data: bytes) -> None:
    """Append to an open file all of `data` or nothing: a disk that fills up half way leaves no torn line."""
    before = os.fstat(descriptor).st_size
    if os.write(descriptor, data) != len(data):
        os.ftruncate(descriptor, before)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _swap_in(half: Path, path: Path, data: bytes) -> None:
    try:
        half.write_bytes(data)
        with suppress(FileNotFoundError):
            half.chmod(stat.S_IMODE(os.stat(path).st_mode))  # noqa: PTH116
        os.replace(half, path)  # noqa: PTH105
    except BaseException:
        half.unlink(missing_ok=True)
        raise
