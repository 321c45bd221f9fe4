"""Transcripts: `$ command`, then what it prints. Run as real processes, compared, or written anew.

A line that begins with `;` is a remark. `$ ` begins a command for `sh`, `> ` continues it; the lines after it are what
it prints on stdout, then, each after `! `, on stderr, then `[exit N]` where N is not 0. Commits are written
`commit_1`, `commit_2`... in the order in which they first appear, also where a later command names one. A `cd` alone
moves the commands that follow.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from tests.command_server import CommandServer

# A command of the program with words alone, for which no shell is needed.
_PLAIN = re.compile(r"clawmem [^|<>&;$`*?~#\\!\n]*")
_HASH = re.compile(r"\b(?:[0-9a-f]{40}|[0-9a-f]{12})\b")
_LABEL = re.compile(r"\bcommit_(\d+)\b")
_PASSING = (
    (re.compile(r"\bprocess \d+"), "process PID"),
    (re.compile(r"\b\d+\.\d (s|MB)\b"), r"N \1"),
)

_WHILE_LOCKED = """#!{python}
\"\"\"Run a command while this process holds the vault's writer lock.\"\"\"
import fcntl, os, subprocess, sys
descriptor = os.open(".git/clawmem/lock", os.O_RDWR | os.O_CREAT)
fcntl.flock(descriptor, fcntl.LOCK_EX)
os.ftruncate(descriptor, 0)
os.pwrite(descriptor, f"{{os.getpid()}} heartbeat\\n".encode(), 0)
sys.exit(subprocess.run(sys.argv[1:]).returncode)
"""


class Step(NamedTuple):
    """Remarks that stand before a command, the command, and what it prints, as the transcript writes it."""

    remarks: tuple[str, ...]
    command: str
    printed: tuple[str, ...]


class Labels:
    """Commits by the order in which they appear, so that a transcript does not hold their names."""

    def __init__(self) -> None:
        self._commits: list[str] = []

    def put_in(self, text: str) -> str:
        """The text with each commit's name, whole or cut to 12 digits, replaced by its label."""
        return _HASH.sub(lambda found: self._label(found[0]), text)

    def take_out(self, text: str) -> str:
        """The text with each label replaced by the commit's name."""
        return _LABEL.sub(lambda found: self._commits[int(found[1]) - 1], text)

    def _label(self, commit: str) -> str:
        for number, known in enumerate(self._commits, 1):
            if known.startswith(commit) or commit.startswith(known):
                return f"commit_{number}"
        self._commits.append(commit)
        return f"commit_{len(self._commits)}"


class Stage:
    """Where commands run: a folder below which everything happens, an environment, the commits named so far."""

    def __init__(self, folder: Path, start: Path, environment: Mapping[str, str], server: CommandServer) -> None:
        self._folder = folder
        self._server = server
        self._place = start
        self._labels = Labels()
        self._environment = {**environment, "PATH": f"{tools(folder, server)}{os.pathsep}{environment['PATH']}"}
        self._environment.pop("CLAWMEM_TRACEBACK", None)

    def run(self, command: str) -> tuple[str, ...]:
        """Run one command with ids that depend on nothing but its words; returns what it printed."""
        if command.startswith("cd ") and len(command.split()) == 2:
            self._place = (self._place / command.split()[1]).resolve(strict=True)
            return ()
        environment = {**self._environment, "CLAWMEM_SEED": str(zlib.crc32(command.encode()))}
        named = self._labels.take_out(command)
        if _PLAIN.fullmatch(named):
            result = self._server.run(shlex.split(named)[1:], b"", self._place, environment, seconds=300)
        else:
            result = subprocess.run(
                ["sh", "-c", named], cwd=self._place, env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                timeout=300,
            )  # fmt: skip
        lines = [self._plain(line) for line in _lines(result.stdout)]
        lines += [f"! {self._plain(line)}".rstrip() for line in _lines(result.stderr)]
        return tuple(lines + ([f"[exit {result.returncode}]"] if result.returncode else []))

    def _plain(self, line: str) -> str:
        shown = line.replace(str(self._folder), "/here")
        for pattern, words in _PASSING:
            shown = pattern.sub(words, shown)
        return self._labels.put_in(shown)


def read(text: str) -> Iterator[Step]:
    """The steps of a transcript."""
    remarks: list[str] = []
    command: list[str] = []
    printed: list[str] = []
    for line in [*text.split("\n"), "$ "]:
        if line.startswith(("$ ", ";")) and command:
            yield Step(tuple(remarks), "\n".join(command), _trimmed(printed))
            remarks, command, printed = [], [], []
        if line.startswith(";"):
            remarks.append(line)
        elif line.startswith("$ "):
            command = [line[2:]]
        elif line.startswith("> ") and command and not printed:
            command.append(line[2:])
        elif command:
            printed.append(line)


def render(steps: list[Step]) -> str:
    """The steps as the text of a transcript."""
    parts = []
    for step in steps:
        first, *more = step.command.split("\n")
        lines = [*step.remarks, f"$ {first}", *(f"> {line}" for line in more), *step.printed]
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def _lines(data: bytes) -> list[str]:
    text = data.decode(errors="backslashreplace").rstrip("\n")
    return [line.rstrip() for line in text.split("\n")] if text else []


def _trimmed(lines: list[str]) -> tuple[str, ...]:
    end = len(lines)
    while end and not lines[end - 1].strip():
        end -= 1
    return tuple(lines[:end])


def tools(folder: Path, server: CommandServer) -> Path:
    """A folder of commands for the PATH: `clawmem` as it is here, and `while-locked`, which holds the lock."""
    place = folder / "tools"
    place.mkdir(exist_ok=True)
    for name, text in (("clawmem", server.program()), ("while-locked", _WHILE_LOCKED.format(python=sys.executable))):
        tool = place / name
        tool.write_text(text)
        tool.chmod(0o755)
    return place
