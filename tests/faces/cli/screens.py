"""Terminals for tests: a command on a pseudoterminal, and the screen that its bytes make."""

from __future__ import annotations

import fcntl
import os
import re
import struct
import subprocess
import sys
import termios
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pyte

_STYLE = re.compile(r"\x1b\[([0-9;]*)m")
_NAMES = {"1": "bold", "2": "dim", "31": "red", "35": "magenta"}


def on_terminal(words: Sequence[str], folder: Path, environment: Mapping[str, str], columns: int, code: int = 0) -> str:
    """Run a command on a terminal of that width, and return what the terminal is sent. 0 columns tell no width."""
    master, slave = os.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-m", "clawmem", *words],
        cwd=folder,
        env={"TERM": "xterm-256color", **environment},
        stdin=slave,
        stdout=slave,
        stderr=subprocess.PIPE,
    )
    os.close(slave)
    pieces = []
    try:
        while piece := os.read(master, 65536):
            pieces.append(piece)
    except OSError:
        pass  # Linux says so when the other end is closed
    os.close(master)
    _, problem = process.communicate(timeout=300)
    assert process.returncode == code, problem
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
