"""Limits and detached work of short processes, such as hooks."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

LONGEST_DETACHED = 900


class TooLate(BaseException):
    """The time of a process is up. No handler of errors may keep it, so it is none."""


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """Raise TooLate inside the block when it has taken that long."""

    def stop(number: int, frame: object) -> None:
        raise TooLate

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def detach(work: Callable[[], None]) -> None:
    """Do the work in a process of its own, in a session of its own and without a terminal, and return at once.

    Who started this process does not wait for it, and does not end it together with this process. The work has
    LONGEST_DETACHED seconds; TooLate is raised in it then."""
    sys.stdout.flush()
    sys.stderr.flush()
    if os.fork():
        return
    try:
        os.setsid()
        if os.fork():
            os._exit(0)  # nobody waits for the grandchild
        nothing = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(nothing, number)
        with deadline(LONGEST_DETACHED):
            work()
    finally:
        os._exit(0)
