"""Exclusive locks on open files. A lock ends with the last process that has the descriptor."""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

# What is locked on Windows: nobody can read a locked byte, so it is one far behind the end of every file.
_PLACE, _PAUSE = 0x7FFF_0000, 0.01


def try_lock(descriptor: int) -> bool:
    """Lock an open file. Return False if somebody else holds the lock."""
    try:
        if sys.platform == "win32":
            _locking(descriptor, msvcrt.LK_NBLCK)
        else:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True


def lock(descriptor: int) -> None:
    """Lock an open file, however long that takes."""
    if sys.platform != "win32":
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        return
    while not try_lock(descriptor):
        time.sleep(_PAUSE)


def close_locked(descriptor: int) -> None:
    """Close a file that may be locked. A program that inherited the descriptor keeps the lock."""
    if sys.platform == "win32":
        with suppress(OSError):  # it was not locked
            _locking(descriptor, msvcrt.LK_UNLCK)
    os.close(descriptor)


if sys.platform == "win32":

    def _locking(descriptor: int, mode: int) -> None:
        os.lseek(descriptor, _PLACE, os.SEEK_SET)
        msvcrt.locking(descriptor, mode, 1)
        os.lseek(descriptor, 0, os.SEEK_SET)
