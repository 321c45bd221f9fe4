"""Run a `clawmem` command in the process of the test: what a fork and an end of a process add takes as long as most
commands do.

The command has its own variables, folder and streams, and nothing else that would tell it from a process of its own.
What leaves processes behind, serves, waits, asks a terminal or calls a model gets a real process.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from io import BufferedReader, TextIOWrapper
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from clawmem import __main__ as program
from clawmem.extension import Accepted
from clawmem.faces.cli.app import run as run_with_typer
from clawmem.faces.cli.plain import in_current_words, run_plain
from tests.command_server import can_fork, file_of

# Verbs that read or write the vault and end.
_SHORT = frozenset(
    "access agent claim config context decision diff digest doctor edit entity eval evaluate export forget graph "
    "guardrail heartbeat help import ingest init learn lesson link list log merge note org precedent principle recall "
    "redact reindex remember retract revoke review schema session show status supersede sync task tier undo why "
    "wiki workflow".split()
)
_LONG = {"decide", "watch"}  # the second words of those that follow or ask


def runs_here(arguments: Sequence[str], environment: Mapping[str, str]) -> bool:
    """Whether the command line reads or writes a vault and ends, so that it may run in this process."""
    words = [word for word in in_current_words(arguments) if not word.startswith("-")]
    is_short = "--help" in arguments or (words[:1] != [] and words[0] in _SHORT and not _LONG & set(words[1:2]))
    return is_short and can_fork(environment) and threading.current_thread() is threading.main_thread()


def run_here(
    arguments: Sequence[str], data: bytes, folder: Path, environment: Mapping[str, str]
) -> subprocess.CompletedProcess[bytes]:
    """Run the command line and return its exit code and what it printed, as `subprocess.run` does."""
    with contextlib.ExitStack() as stack:
        out, err = (stack.enter_context(TemporaryFile()) for _ in range(2))
        stdin = TextIOWrapper(BufferedReader(stack.enter_context(file_of(data))), "utf-8", "surrogateescape")
        streams = [TextIOWrapper(file, encoding="utf-8", errors="backslashreplace") for file in (out, err)]
        with _surroundings(arguments, folder, environment, [stdin, *streams]):
            code = run_plain(arguments)
            if code is None:
                code = run_with_typer(arguments)
        printed = []
        for stream, file in zip(streams, (out, err), strict=True):
            stream.flush()
            file.seek(0)
            printed.append(file.read())
            stream.detach()
    return subprocess.CompletedProcess(["clawmem", *arguments], code, *printed)


@contextlib.contextmanager
def _surroundings(
    arguments: Sequence[str], folder: Path, environment: Mapping[str, str], streams: Sequence[Any]
) -> Iterator[None]:
    before = dict(os.environ), Path.cwd(), sys.argv, (sys.stdin, sys.stdout, sys.stderr), Accepted.folder
    try:
        _become(environment)
        os.chdir(folder)
        sys.argv = [str(program.__file__), *arguments]
        sys.stdin, sys.stdout, sys.stderr = streams
        Accepted.folder = program._user_folder
        yield
    finally:
        _become(before[0])
        os.chdir(before[1])
        _, _, sys.argv, (sys.stdin, sys.stdout, sys.stderr), Accepted.folder = before


def _become(environment: Mapping[str, str]) -> None:
    os.environ.clear()
    os.environ.update(environment)
