"""The life of processes: which ones run, how a group of them ends, limits, and detached work of short ones."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress

TYPE_CHECKING = False
if TYPE_CHECKING:
    import subprocess
    from types import FrameType
    from typing import Any

LONGEST_DETACHED = 900
if sys.platform == "win32":
    ENDING_SIGNALS = (signal.SIGTERM,)
    _ALARM = signal.SIGTERM
else:
    ENDING_SIGNALS = (signal.SIGHUP, signal.SIGTERM)
    """The signals that ask a process to end, apart from that of Control-C."""
    _ALARM = signal.SIGALRM


class TooLate(BaseException):
    """The time of a process is up; the text says of how long. No handler of errors may keep it, so it is none."""


def is_running(number: str) -> bool:
    """Return whether there is a process of that number; False for a text that is no number. On Windows, where asking by
    a signal would end it, each counts as one."""
    try:
        process = int(number)
        if sys.platform != "win32":
            os.kill(process, 0)
    except PermissionError:
        return True
    except (ValueError, ProcessLookupError, OverflowError):
        return False
    return True


def end_group(process: subprocess.Popen[bytes], kill: bool) -> None:
    """Ask a process that leads a session, and the rest of its group, to end; with `kill`, end them. On Windows, end the
    process at once; what it started goes on."""
    if sys.platform == "win32":
        process.kill()
        return
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL if kill else signal.SIGTERM)


@contextmanager
def signals_handled(numbers: Iterable[int], act: Callable[[int, FrameType | None], Any]) -> Iterator[None]:
    """Call `act` for these signals inside the block. Only the main thread can do that."""
    before = [(number, signal.signal(number, act)) for number in numbers]
    try:
        yield
    finally:
        for number, handler in before:
            signal.signal(number, handler)


@contextmanager
def deadline(seconds: float) -> Iterator[None]:
    """Raise TooLate inside the block when it has taken that long; on Windows, when a call returns that waits then."""

    def stop(number: int, frame: object) -> None:
        raise TooLate(f"it took longer than {seconds:g} s")

    with signals_handled((_ALARM,), stop):
        cancel = _ring_after(seconds)
        try:
            yield
        finally:
            cancel()


def _ring_after(seconds: float) -> Callable[[], object]:
    if sys.platform == "win32":
        from _thread import interrupt_main
        from threading import Timer

        timer = Timer(seconds, interrupt_main, (_ALARM,))
        timer.start()
        return timer.cancel
    signal.setitimer(signal.ITIMER_REAL, seconds)
    return lambda: signal.setitimer(signal.ITIMER_REAL, 0)


def detach(work: Callable[[], None]) -> None:
    """Do the work in a process of its own, in a session of its own and without a terminal, and return at once.

    Who started this process does not wait for it, and does not end it together with this process. The work has
    LONGEST_DETACHED seconds; TooLate is raised in it then. On Windows, where no process can be copied, it is
    done first, within the time of the caller."""
    if sys.platform == "win32":
        work()
        return
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
