"""A command on a real terminal (a pty), with its keys, its size and what it shows."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.command_server import shared_server

SECONDS = 120
_STYLES = re.compile(r"\x1b\[[0-9;]*[mK]")


class AtTerminal:
    """One command whose controlling terminal is ours."""

    def __init__(self, words: Sequence[str], folder: Path, environment: Mapping[str, str]) -> None:
        self.fd, slave = pty.openpty()
        self.resize(40, 100)
        self._command = shared_server().start(
            words, (slave, slave, slave), folder, {"TERM": "xterm", **environment}, terminal=True
        )
        os.close(slave)
        self.pid = self._command.pid
        self.raw = ""
        self._read = 0
        self.code: int | None = None

    def resize(self, rows: int, columns: int) -> None:
        """Give the terminal another size."""
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def press(self, keys: str) -> None:
        """Type on the keyboard."""
        os.write(self.fd, keys.encode())

    def until(self, text: str) -> str:
        """Wait for a text and return what is shown from the last one to it, without colours."""
        deadline = time.monotonic() + SECONDS
        while (at := self.shown.find(text, self._read)) < 0:
            if time.monotonic() > deadline or not self._more(deadline - time.monotonic()):
                raise AssertionError(f"{text!r} is not shown: {self.shown[self._read :]!r}")
        begun, self._read = self._read, at + len(text)
        return self.shown[begun : self._read]

    def ended(self) -> int:
        """Wait for the end of the command and return its exit code; a signal is its negative number."""
        deadline = time.monotonic() + SECONDS
        while self._more(deadline - time.monotonic()):
            assert time.monotonic() < deadline, self.shown
        return self.wait()

    def wait(self) -> int:
        """Return the exit code of a command that ends."""
        deadline = time.monotonic() + SECONDS
        while self.code is None:
            self.code = self._command.poll()
            if self.code is None and time.monotonic() > deadline:
                raise AssertionError(f"the command does not end: {self.shown!r}")
            time.sleep(0.005 * (self.code is None))
        return self.code

    def modes(self) -> Any:
        """The modes of the terminal."""
        return termios.tcgetattr(self.fd)[:4]

    @property
    def shown(self) -> str:
        """All that the terminal was sent, without colours."""
        return _STYLES.sub("", self.raw).replace("\r\n", "\n")

    def _more(self, seconds: float) -> bool:
        """Read what comes. Return False if the other side is closed."""
        if not select.select([self.fd], [], [], max(0, seconds))[0]:
            return False
        try:
            piece = os.read(self.fd, 65536)
        except OSError:
            return False
        self.raw += piece.decode(errors="replace")
        return bool(piece)

    def close(self) -> None:
        """Close the terminal, as a window is closed."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1


@contextmanager
def at_terminal(words: Sequence[str], folder: Path, environment: Mapping[str, str]) -> Iterator[AtTerminal]:
    """A command on a terminal, ended and closed at the end."""
    command = AtTerminal(words, folder, environment)
    try:
        yield command
    finally:
        if command.code is None:
            os.kill(command.pid, signal.SIGKILL)
            command.wait()
        command.close()
