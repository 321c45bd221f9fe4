"""The writer lock: one writer at a time, a bounded wait, released by the kernel when the process ends."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from clawmem.errors import Locked
from clawmem.vault.disk import open_in_place

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
        os.pwrite(descriptor, f"{os.getpid()} {purpose}\n".encode(), 0)
        yield descriptor
    finally:
        os.close(descriptor)


def _acquire(descriptor: int, wait: float) -> None:
    start = time.monotonic()
    pause = _FIRST_PAUSE
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            waited = time.monotonic() - start
            if waited >= wait:
                raise _held(descriptor, wait) from None
            time.sleep(min(pause, wait - waited))
            pause = _next_pause(pause, waited)


def _next_pause(pause: float, waited: float) -> float:
    """Return the next pause in seconds. The longer a process has waited, the more often it tries, so that no one of
    many waits forever."""
    longest = _LONGEST_PAUSE / (1 + waited) ** 2
    return max(_SHORTEST_PAUSE, min(pause * 1.5, longest))


def _held(descriptor: int, wait: float) -> Locked:
    holder = os.pread(descriptor, 200, 0).decode(errors="replace").strip().partition(" ")
    who = f"process {holder[0]} ({holder[2]})" if holder[2] else "another process"
    return Locked(
        f"The vault is locked by {who}; gave up after {wait:g} seconds.",
        "Try again, or allow a longer wait with `clawmem config set lock.wait_seconds 60`.",
    )
