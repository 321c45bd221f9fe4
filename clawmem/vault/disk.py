"""File operations of clawmem, in one place so that tests can make each of them fail."""

from __future__ import annotations

import errno
import os
import stat
import time
from _thread import get_native_id  # `threading` costs a plain recall its start-up time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from clawmem.errors import Locked, Refused
from clawmem.platform.files import OPEN_FILES_MOVE, open_file, replace_file
from clawmem.platform.locks import close_locked, lock, try_lock

PARTIAL_PREFIX = "half-"
_LARGEST_READ = 0x7FFFF000


class Disk:
    """Plain file operations. A write replaces the whole file or changes nothing."""

    def read(self, path: Path) -> bytes | None:
        """Return the bytes of a file, or None if it does not exist. Raise Refused if it is a pipe or a device."""
        return read_regular_file(path)

    def replace(self, path: Path, data: bytes, staging: Path) -> None:
        """Replace the contents of `path` atomically and keep the permissions of an existing file.

        `staging` is the folder for the partial file. If it is on another file system, the partial file is written
        beside `path` instead. A new file in the staging folder is closed to other users.
        """
        path.parent.mkdir(parents=True, exist_ok=True)
        mode = 0o600 if path.is_relative_to(staging) else 0o666
        try:
            swap_in(staged_path(staging), path, data, mode)
        except OSError as problem:
            if problem.errno != errno.EXDEV:
                raise
            swap_in(partial_path(path), path, data, mode)

    def create(self, path: Path, data: bytes) -> bool:
        """Create a small file. Return False if it already exists."""
        try:
            descriptor = open_file(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
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
        """Rename a file atomically, replacing `target`."""
        replace_file(path, target)

    def remove(self, path: Path) -> None:
        """Remove a file. A missing file is not an error."""
        with suppress(FileNotFoundError, NotADirectoryError):
            path.unlink()


def read_regular_file(path: Path | str) -> bytes | None:
    """Return the bytes of a regular file, or None if it does not exist.

    Raise Refused for any other kind of file, because reading a pipe would block.
    """
    try:
        descriptor = open_file(path, os.O_RDONLY)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as problem:
        if problem.errno == errno.ENXIO:
            raise not_regular_file(path) from None
        raise
    try:
        status = os.fstat(descriptor)
        if stat.S_ISDIR(status.st_mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(status.st_mode):
            raise not_regular_file(path)
        return _all_of(descriptor, status.st_size)
    finally:
        os.close(descriptor)


def _all_of(descriptor: int, size: int) -> bytes:
    """Read to the end, even if the file grows meanwhile or reports size 0, as files of the kernel do."""
    pieces = []
    while piece := os.read(descriptor, min(size + 1, _LARGEST_READ)):
        pieces.append(piece)
        size = max(size - len(piece), 65536)
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)


def open_in_place(path: Path, flags: int) -> int:
    """Open a file that is written in place and return its descriptor. With O_CREAT a missing file is created.

    Raise Refused if a write would reach another file: through a symbolic link, or because of a hard link.
    """
    try:
        descriptor = open_file(path, flags, follow=False)
    except OSError as problem:
        if problem.errno == errno.ELOOP:
            raise Refused(
                f"{path} is a symbolic link, so what is written there would go elsewhere.", "Delete the link."
            ) from None
        if problem.errno == errno.ENXIO:
            raise not_regular_file(path) from None
        raise
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise not_regular_file(path)
        refuse_hard_link(status, str(path))
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def refuse_hard_link(status: os.stat_result, path: str) -> None:
    """Raise Refused if the file has another hard link, because a write would change that file too."""
    if status.st_nlink > 1:
        raise Refused(
            f"{path} is a hard link: the same file has another name, perhaps outside the vault.",
            f"Make it a file of its own: `cp -p {path} {path}.own && mv {path}.own {path}`.",
        )


def not_regular_file(path: Path | str) -> Refused:
    """Return the error for a pipe, a socket or a device where a file is expected."""
    return Refused(f"{path} is not a regular file.", "Delete it, or move it out of the way.")


def files_below(folder: Path, leaving_out: str | None = None) -> Iterator[Path]:
    """Yield every file below a folder, except those in folders named `leaving_out`.

    A folder that disappears during the walk, as git's own temporary folders do, counts as empty. Raise OSError if a
    folder cannot be read.
    """
    for where, folders, names in os.walk(folder, onerror=_unless_gone):
        folders[:] = [name for name in folders if name != leaving_out]
        yield from (Path(where, name) for name in names)


def _unless_gone(problem: OSError) -> None:
    if not isinstance(problem, FileNotFoundError | NotADirectoryError):
        raise problem


def staged_path(staging: Path) -> Path:
    """Return the path of this thread's partial file. A commit updates git's index in a thread beside its caller."""
    return staging / f"{PARTIAL_PREFIX}{os.getpid()}-{get_native_id()}"


def partial_path(path: Path) -> Path:
    """Return the path of the partial file when git's folder is on another file system."""
    return path.with_name(f".{path.name}.half")


def append_line(path: Path, line: bytes) -> None:
    """Append one line atomically to a file that several processes append to.

    A partial last line, left by a killed process, is cut off first. If the file is renamed meanwhile, the line goes to
    a new file.
    """
    while True:
        descriptor = open_in_place(path, os.O_RDWR | os.O_APPEND | os.O_CREAT)
        try:
            lock(descriptor)
            if _same_file(descriptor, path):
                _append(descriptor, line)
                return
        finally:
            close_locked(descriptor)


def move_aside(path: Path, aside: Path) -> bytes:
    """Move a journal aside, when nobody appends to it, and return its complete lines. If an earlier run moved one aside
    and did not finish, only that one is returned, so that nothing counts twice."""
    earlier = read_regular_file(aside)
    if earlier is not None:
        return complete_lines(earlier)
    try:
        descriptor = open_file(path, os.O_RDONLY if OPEN_FILES_MOVE else os.O_RDWR)
    except FileNotFoundError:
        return b""
    try:
        lock(descriptor)
        if OPEN_FILES_MOVE:
            path.rename(aside)
        else:
            _write_new(aside, _all_of(descriptor, os.fstat(descriptor).st_size), 0o600)
            os.ftruncate(descriptor, 0)
    finally:
        close_locked(descriptor)
    return complete_lines(read_regular_file(aside) or b"")


def complete_lines(data: bytes) -> bytes:
    """Return the data without a partial last line."""
    return data[: data.rfind(b"\n") + 1]


def _append(descriptor: int, line: bytes) -> None:
    end = os.fstat(descriptor).st_size
    if end and _read_at(descriptor, 1, end - 1) != b"\n":
        end = len(complete_lines(_read_at(descriptor, end, 0)))
        os.ftruncate(descriptor, end)
    if os.write(descriptor, line) != len(line):
        os.ftruncate(descriptor, end)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def _read_at(descriptor: int, size: int, place: int) -> bytes:
    os.lseek(descriptor, place, os.SEEK_SET)
    return os.read(descriptor, size)


def _same_file(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))  # noqa: PTH116 - compares descriptors
    except FileNotFoundError:
        return False


def swap_in(partial: Path, path: Path, data: bytes, mode: int) -> None:
    """Write a partial file and rename it to `path`, whose permissions stay; a new one has `mode`, less the umask.

    Remove the partial file if this fails.
    """
    try:
        while not _swapped_in(partial, path, data, mode):
            pass
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


def _swapped_in(partial: Path, path: Path, data: bytes, mode: int) -> bool:
    """Return whether the file was replaced.

    A new writer deletes the partial files of killed processes. It cannot tell them from one that is being written
    without the writer lock, as the heartbeat does. So a partial file that disappears is written again.
    """
    partial.unlink(missing_ok=True)  # never write through an existing file or link
    _write_new(partial, data, mode)
    try:
        with suppress(FileNotFoundError):
            partial.chmod(stat.S_IMODE(os.stat(path).st_mode))  # noqa: PTH116
        replace_file(partial, path)
    except FileNotFoundError:
        if partial.exists() or not path.parent.is_dir():
            raise
        return False
    return True


def _write_new(path: Path, data: bytes, mode: int) -> None:
    with open(open_file(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "wb") as file:  # noqa: PTH123
        file.write(data)


_FIRST_PAUSE = 0.002
_SHORTEST_PAUSE = 0.0005
_LONGEST_PAUSE = 0.02


@contextmanager
def writer_lock(path: Path, wait: float, purpose: str) -> Iterator[int]:
    """Lock a file exclusively and yield its descriptor. `wait` is the longest wait in seconds.

    Raise Locked, naming the process that holds the lock, if the wait is over.
    """
    descriptor = open_in_place(path, os.O_RDWR | os.O_CREAT)
    try:
        _acquire(descriptor, wait)
        os.ftruncate(descriptor, 0)
        os.write(descriptor, f"{os.getpid()} {purpose}\n".encode())
        yield descriptor
    finally:
        close_locked(descriptor)


def _acquire(descriptor: int, wait: float) -> None:
    start = time.monotonic()
    pause = _FIRST_PAUSE
    while not try_lock(descriptor):
        waited = time.monotonic() - start
        if waited >= wait:
            raise _held(descriptor, wait)
        time.sleep(min(pause, wait - waited))
        pause = _next_pause(pause, waited)


def _next_pause(pause: float, waited: float) -> float:
    """Return the next pause in seconds. The longer a process has waited, the more often it tries, so that no one of
    many waits forever."""
    longest = _LONGEST_PAUSE / (1 + waited) ** 2
    return max(_SHORTEST_PAUSE, min(pause * 1.5, longest))


def _held(descriptor: int, wait: float) -> Locked:
    holder = _read_at(descriptor, 200, 0).decode(errors="replace").strip().partition(" ")
    who = f"process {holder[0]} ({holder[2]})" if holder[2] else "another process"
    return Locked(
        f"The vault is locked by {who}; gave up after {wait:g} seconds.",
        "Try again, or allow a longer wait with `clawmem config set lock.wait_seconds 60`.",
    )
