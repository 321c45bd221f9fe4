"""Single keys from a terminal, and the signals of one that is stopped, resized or closed."""

from __future__ import annotations

import os
import select
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import NoReturn

from clawmem.errors import NotPermitted
from clawmem.model.records.caller import AGENTS_THAT_TYPE
from clawmem.platform.processes import ENDING_SIGNALS, signals_handled

with suppress(ImportError):  # Windows has none
    import termios
    import tty

END = "\x04"
"""Control-D: the end of the input."""
_ESCAPE = b"\x1b"
_PIECE = 1024
_REST_SECONDS = 0.05
_LOOK_UP_SECONDS = 0.5
_ANSWER_SECONDS = 300
_YES = (b"y", b"yes")


class TerminalClosed(Exception):
    """The terminal is gone; nobody can be asked any more."""


class _Changed(Exception):
    """The terminal has another size, or the program continues after a stop."""


def read_key(fd: int, draw: Callable[[], None]) -> str:
    """Return the key that is pressed next, or an empty text for several at once, such as an arrow key or a paste.

    `draw` shows what the key is asked for. It is called when keys are read, and again when the terminal has changed:
    keys that were pressed before are discarded, so that nobody decides about what was not shown yet. The terminal gets
    its modes back before this returns. Raise TerminalClosed, and KeyboardInterrupt for Control-C.
    """
    while True:
        with suppress(_Changed), _single_keys(fd):
            draw()
            return _key(fd)


def check_answer_of_person(shell: tuple[str, str] | None, verb: str, problem: NotPermitted) -> None:
    """Ask who is there on the terminal of an agent's shell; raise the problem unless a person says that they are.

    `shell` is the variable that tells of the agent, and the agent. Nobody is asked outside such a shell, where there is
    no terminal in the foreground, and where the agent itself can type into the terminal."""
    if shell is None or sys.platform == "win32":
        raise problem
    variable, agent = shell
    try:
        fd = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY)
    except OSError:
        fd = -1
    try:
        if fd >= 0 and os.tcgetpgrp(fd) == os.getpgrp() and not _may_be_typed_by(agent, variable):
            termios.tcflush(fd, termios.TCIFLUSH)
            asked = f"`clawmem {verb}` is for the person, not for {agent}. Are you the person? [y/N] "
            os.write(fd, asked.encode())
            if select.select([fd], [], [], _ANSWER_SECONDS)[0] and os.read(fd, _PIECE).strip().lower() in _YES:
                return
    finally:
        if fd >= 0:
            os.close(fd)
    problem.hint = (
        f"{problem.hint} {variable} is set, so this is a shell of {agent}: a person can also answer a question on its"
        " terminal, but it has none in which only a person types."
    )
    raise problem


def _may_be_typed_by(agent: str, variable: str) -> bool:
    """Return whether the agent's program may have made this terminal: the first process in it then has a parent without
    the variable. A terminal that a person opened from the agent's shell has a parent with it."""
    if agent not in AGENTS_THAT_TYPE or sys.platform == "win32":
        return False
    try:
        stat = Path(f"/proc/{os.getsid(0)}/stat").read_bytes()
        parent = int(stat.rpartition(b")")[2].split()[1])
        return f"{variable}=".encode() not in b"\n".join(Path(f"/proc/{parent}/environ").read_bytes().split(b"\0"))
    except (OSError, ValueError):
        return True


@contextmanager
def closing() -> Iterator[None]:
    """End the program in order, with the modes of the terminal restored, when its terminal is closed or it is asked to
    end; the exit code is that of a shell, 128 and the number of the signal."""

    def leave(number: int, frame: FrameType | None) -> NoReturn:
        raise SystemExit(128 + number)

    with signals_handled(ENDING_SIGNALS, leave):
        yield


@contextmanager
def undivided() -> Iterator[None]:
    """Hold back the signals that end the program until an act is complete. The programs that it starts inherit that."""
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, (signal.SIGINT, *ENDING_SIGNALS))
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def _single_keys(fd: int) -> Iterator[None]:
    if sys.platform == "win32":
        raise TerminalClosed

    def changed(number: int, frame: FrameType | None) -> NoReturn:
        raise _Changed

    try:
        before = termios.tcgetattr(fd)
        tty.setcbreak(fd, termios.TCSAFLUSH)
    except termios.error:
        raise TerminalClosed from None
    try:
        with signals_handled((signal.SIGWINCH, signal.SIGCONT), changed):
            yield
    finally:
        with suppress(termios.error):  # the terminal is gone, and its modes with it
            termios.tcsetattr(fd, termios.TCSADRAIN, before)


def _key(fd: int) -> str:
    try:
        # A signal that comes right before a read does not wake it.
        while not select.select([fd], [], [], _LOOK_UP_SECONDS)[0]:
            pass
        piece = os.read(fd, _PIECE)
        if piece == _ESCAPE and select.select([fd], [], [], _REST_SECONDS)[0]:
            piece += os.read(fd, _PIECE)
    except OSError:
        raise TerminalClosed from None
    if not piece:
        raise TerminalClosed
    text = piece.decode(errors="replace")
    return text if len(text) == 1 and piece != _ESCAPE else ""
