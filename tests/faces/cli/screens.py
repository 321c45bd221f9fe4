"""Terminals for tests: a command on a pseudoterminal, and the screen that its bytes make."""

from __future__ import annotations

import fcntl
import os
import re
import struct
import subprocess
import sys
import tempfile
import termios
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pyte

from tests.command_server import can_fork, shared_server
from tests.waiting import wait_until

_STYLE = re.compile(r"\x1b\[([0-9;]*)m")
_NAMES = {"1": "bold", "2": "dim", "31": "red", "35": "magenta"}


def on_terminal(words: Sequence[str], folder: Path, environment: Mapping[str, str], columns: int, code: int = 0) -> str:
    """Run a command on a terminal of that width, and return what the terminal is sent. 0 columns tell no width."""
    master, slave = os.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = {"TERM": "xterm-256color", **environment}
    with tempfile.TemporaryFile() as errors:
        streams = (slave, slave, errors.fileno())
        if can_fork(environment):
            poll = shared_server().start(words, streams, folder, environment, terminal=True).poll
        else:
            call = [sys.executable, "-m", "clawmem", *words]
            poll = subprocess.Popen(call, cwd=folder, env=environment, stdin=slave, stdout=slave, stderr=errors).poll
        os.close(slave)
        sent = _all_sent(master)
        assert wait_until(lambda: poll() is not None)
        errors.seek(0)
        assert poll() == code, errors.read()
    return sent


def _all_sent(master: int) -> str:
    pieces = []
    try:
        while piece := os.read(master, 65536):
            pieces.append(piece)
    except OSError:
        pass  # Linux says so when the other end is closed
    os.close(master)
    return b"".join(pieces).decode()


def screen_of(sent: str, columns: int) -> list[str]:
    """The rows of a screen that was sent this, without empty ones at the end. Each byte counts: none may move the
    cursor, set a title or make a link."""
    rows_sent = sent.count("\n")
    screen = pyte.Screen(columns, rows_sent + 2)
    pyte.Stream(screen).feed(sent if "\r\n" in sent else sent.replace("\n", "\r\n"))
    assert screen.cursor.y == rows_sent, "a row was wider than the screen, or something moved the cursor"
    rows = [row.rstrip() for row in screen.display]
    while rows and not rows[-1]:
        rows.pop()
    return rows


def styled(sent: str) -> Iterator[tuple[str, str]]:
    """Each style that a terminal is sent, with the text that is shown in it."""
    style = ""
    for number, part in enumerate(_STYLE.split(sent)):
        if number % 2:
            style = " ".join(_NAMES[word] for word in part.split(";") if word not in ("", "0"))
        elif style and part.strip():
            yield style, part.strip()


def without_styles(sent: str) -> str:
    """What a terminal is sent, without the codes of styles."""
    return _STYLE.sub("", sent)
