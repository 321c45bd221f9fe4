"""The few ways clawmem touches files, in one place so that each can be made to fail in a test."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from clawmem.errors import Refused

PARTIAL_PREFIX = "half-"
_SAFE = os.O_CLOEXEC | os.O_NONBLOCK
_LARGEST_READ = 0x7FFFF000


class Disk:
    """Plain file operations; every write is whole or not at all."""

    def read(self, path: Path) -> bytes | None:
        """The file's bytes, or None where there is no such file; Refused for a pipe or a device."""
        return read_regular_file(path)

    def replace(self, path: Path, data: bytes, staging: Path) -> None:
        """Put `data` at `path` in one step; `staging` is a folder for the half-written file.

        A file that was there keeps its permissions.
        """
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            _swap_in(staging / f"{PARTIAL_PREFIX}{os.getpid()}", path, data)
        except OSError as problem:
            if problem.errno != errno.EXDEV:
                raise
            _swap_in(partial_path(path), path, data)

    def create(self, path: Path, data: bytes) -> bool:
        """Make a small file that must not be there yet; False where it is."""
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)
        except FileExistsError:
            return False
        try:
            os.write(descriptor, data)
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        finally:
            os.close(descriptor)
        return True

    def move(self, path: Path, target: Path) -> None:
        """Put a file in another's place, in one step."""
        os.replace(path, target)  # noqa: PTH105 - on every writer's path

    def remove(self, path: Path) -> None:
        """Remove a file; a missing one is fine."""
        with suppress(FileNotFoundError, NotADirectoryError):
            path.unlink()


def read_regular_file(path: Path | str) -> bytes | None:
    """A plain file's bytes, or None where there is no such file. Refused for anything that is no file, as a pipe would
    hold up whoever reads it."""
    try:
        descriptor = os.open(path, os.O_RDONLY | _SAFE)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as problem:
        if problem.errno == errno.ENXIO:
            raise not_regular_file(path) from None
        raise
    try:
        facts = os.fstat(descriptor)
        if stat.S_ISDIR(facts.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(facts.st_mode):
            raise not_regular_file(path)
        return _all_of(descriptor, facts.st_size)
    finally:
        os.close(descriptor)


def _all_of(descriptor: int, size: int) -> bytes:
    """What a file holds, also where it grows meanwhile or, as files of the kernel do, tells no size."""
    pieces = []
    while piece := os.read(descriptor, min(size + 1, _LARGEST_READ)):
        pieces.append(piece)
        size = max(size - len(piece), 65536)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def open_in_place(path: Path, flags: int) -> int:
    """The descriptor of a file that is written in place, made where it is missing (with O_CREAT). Refused where what is
    written would go elsewhere: through a link, or to a file that has a second name."""
    try:
        descriptor = os.open(path, flags | _SAFE | os.O_NOFOLLOW, 0o600)
    except OSError as problem:
        if problem.errno == errno.ELOOP:
            raise Refused(
                f"{path} is a symbolic link, so what is written there would go elsewhere.", "Delete the link."
            ) from None
        if problem.errno == errno.ENXIO:
            raise not_regular_file(path) from None
        raise
    try:
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode):
            raise not_regular_file(path)
        refuse_hard_link(facts, str(path))
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def refuse_hard_link(facts: os.stat_result, path: str) -> None:
    """Raise Refused for a file that has another name somewhere: what is written into it appears there, too."""
    if facts.st_nlink > 1:
        raise Refused(
            f"{path} is a hard link: the same file has another name, perhaps outside the vault.",
            f"Make it a file of its own: `cp -p {path} {path}.own && mv {path}.own {path}`.",
        )


def not_regular_file(path: Path | str) -> Refused:
    """The error for a pipe, a socket or a device in the place of a file."""
    return Refused(f"{path} is not a plain file.", "Delete it, or move it out of the way.")


def files_below(folder: Path, leaving_out: str | None = None) -> Iterator[Path]:
    """Every file below a folder, but for those in folders of one name. A folder that goes meanwhile, as git clears away
    its own, counts as empty; one that cannot be read raises OSError."""
    for where, folders, names in os.walk(folder, onerror=_unless_gone):
        folders[:] = [name for name in folders if name != leaving_out]
        yield from (Path(where, name) for name in names)


def _unless_gone(problem: OSError) -> None:
    if not isinstance(problem, FileNotFoundError | NotADirectoryError):
        raise problem


def partial_path(path: Path) -> Path:
    """Where the half-written form of a file lies when git's folder is on another disk."""
    return path.with_name(f".{path.name}.half")


def append_line(path: Path, line: bytes) -> None:
    """Append a line, whole or not at all, to a file that many processes append to; what a killed one left of its own
    line is cut off first. A file that is renamed away meanwhile is left, and made anew."""
    while True:
        descriptor = open_in_place(path, os.O_RDWR | os.O_APPEND | os.O_CREAT)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            if _same_file(descriptor, path):
                _append(descriptor, line)
                return
        finally:
            os.close(descriptor)


def complete_lines(data: bytes) -> bytes:
    """A file's lines without what a killed process left of the last."""
    return data[: data.rfind(b"\n") + 1]


def _append(descriptor: int, line: bytes) -> None:
    end = os.fstat(descriptor).st_size
    if end and os.pread(descriptor, 1, end - 1) != b"\n":
        end = len(complete_lines(os.pread(descriptor, end, 0)))
        os.ftruncate(descriptor, end)
    if os.write(descriptor, line) != len(line):
        os.ftruncate(descriptor, end)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _same_file(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))  # noqa: PTH116 - compares descriptors
    except FileNotFoundError:
        return False


def _swap_in(half: Path, path: Path, data: bytes) -> None:
    try:
        while not _swapped_in(half, path, data):
            pass
    except BaseException:
        half.unlink(missing_ok=True)
        raise


def _swapped_in(half: Path, path: Path, data: bytes) -> bool:
    """Whether the file is in place. Who begins to write clears half-written files away, and cannot tell those of the
    dead from one that is being written without his lock, as the heartbeat writes its own: that one is written again."""
    half.unlink(missing_ok=True)  # whatever stands there: it is never written through
    _write_new(half, data)
    try:
        with suppress(FileNotFoundError):
            half.chmod(stat.S_IMODE(os.stat(path).st_mode))  # noqa: PTH116
        os.replace(half, path)  # noqa: PTH105
    except FileNotFoundError:
        if half.exists() or not path.parent.is_dir():
            raise
        return False
    return True


def _write_new(path: Path, data: bytes) -> None:
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666), "wb") as file:  # noqa: PTH123
        file.write(data)
