"""How files are opened, replaced, linked and put on the disk."""

from __future__ import annotations

import errno
import os
import sys
import time
from pathlib import Path

OPEN_FILES_MOVE = sys.platform != "win32"
"""Whether a file can be renamed and replaced while a process has it open."""
_BUSY_SECONDS, _BUSY_PAUSE, _LONGEST_NAME = 2.0, 0.02, 200


def open_file(path: Path | str, flags: int, mode: int = 0o600, *, follow: bool = True) -> int:
    """Open a file for bytes, without waiting for the other end of a pipe, and return its descriptor.

    Without `follow`, raise OSError with ELOOP if the path is a symbolic link. Programs do not inherit the descriptor.
    """
    if sys.platform != "win32":
        return os.open(path, flags | os.O_NONBLOCK | (0 if follow else os.O_NOFOLLOW), mode)
    if not follow and os.path.islink(path):  # noqa: PTH114 - as `os.open` takes it
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
    try:
        return os.open(path, flags | os.O_BINARY, mode)
    except PermissionError:
        if os.path.isdir(path):  # noqa: PTH112
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path)) from None
        raise


def replace_file(source: Path, target: Path) -> None:
    """Rename a file atomically, replacing `target`. On Windows, wait until no other process has it open."""
    ends = time.monotonic() + _BUSY_SECONDS if sys.platform == "win32" else 0.0
    while True:
        try:
            return os.replace(source, target)  # noqa: PTH105 - on every writer's path
        except PermissionError:
            if time.monotonic() >= ends:
                raise
        time.sleep(_BUSY_PAUSE)


def set_link(link: Path, target: str, aside: Path) -> None:
    """Let `link` lead to a file of its folder, in one step by way of `aside`. On Windows it is a file with the name,
    because only some users may make links."""
    if sys.platform == "win32":
        aside.write_text(target, encoding="utf-8")
    else:
        aside.symlink_to(target)
    replace_file(aside, link)


def linked_path(link: Path) -> str:
    """Return the path to which a link of `set_link` leads; that of the link itself if it is none."""
    if sys.platform == "win32" and link.is_file():
        name = link.read_bytes()[:_LONGEST_NAME].decode(errors="replace")
        link = link.with_name(name) if name.isprintable() and name == os.path.basename(name) else link  # noqa: PTH119
    return os.path.realpath(link)


def sync_to_disk(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk. On Windows a folder is left to the system."""
    if sys.platform == "win32" and path.is_dir():
        return
    descriptor = open_file(path, os.O_RDWR if sys.platform == "win32" else os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
