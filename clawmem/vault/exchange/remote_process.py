"""One git that talks to another machine: for a bounded time, with nobody to ask, together with all it starts."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from threading import Thread
from typing import IO, NamedTuple

from clawmem.vault.git.git import Git

ProgressCallback = Callable[[str], None]
"""Takes each line of git's progress."""

_GRACE = 2.0
_CHUNK = 4096


class RemoteOutput(NamedTuple):
    """How a talk ended: git's exit code (None where the time was over), and what it said on both streams."""

    code: int | None
    printed: str
    complaint: str


def run_remote_git(
    git: Git, arguments: Sequence[str], seconds: float, told: ProgressCallback | None = None
) -> RemoteOutput:
    """Run git, with the person's configuration, for at most so many seconds; `told` hears its progress while it
    runs."""
    with git.with_user_config():
        surroundings = git.process_environment()
    # In a session of its own, so that ssh finds no terminal to ask at, and so that all of it can be ended.
    process = subprocess.Popen(
        git.command(arguments),
        cwd=git.root,
        env=surroundings,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    listener = _ProgressReader(process, told, git.environment) if told else None
    try:
        printed, complaint = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        _end(process)
        return RemoteOutput(None, "", "")
    except BaseException:
        _end(process)
        raise
    complaint = listener.output() if listener else complaint
    return RemoteOutput(process.returncode, printed.decode(errors="replace"), complaint.decode(errors="replace"))


def _end(process: subprocess.Popen[bytes]) -> None:
    """End git, which then takes its lock files with it, and what it started; with force what is left after that."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, sign)
        with suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=_GRACE)


class _ProgressReader:
    """Takes git's second stream while it comes, and gives its progress on."""

    def __init__(
        self, process: subprocess.Popen[bytes], told: ProgressCallback, environment: Mapping[str, str]
    ) -> None:
        stream, process.stderr = process.stderr, None
        self._pieces: list[bytes] = []
        self._thread = Thread(target=self._listen, args=(stream, _progress(told, environment)), daemon=True)
        self._thread.start()

    def output(self) -> bytes:
        """All that was said."""
        self._thread.join()
        return b"".join(self._pieces)

    def _listen(self, stream: IO[bytes], line: Callable[[str], None]) -> None:
        rest = b""
        with stream:
            while piece := os.read(stream.fileno(), _CHUNK):
                self._pieces.append(piece)
                *whole, rest = re.split(rb"[\r\n]+", rest + piece)
                for one in whole:
                    line(one.decode(errors="replace"))


def _progress(told: ProgressCallback, environment: Mapping[str, str]) -> Callable[[str], None]:
    from clawmem.vault.history.history import gitpython  # 70 ms: only where somebody looks on

    with gitpython(environment) as git:

        class Progress(git.RemoteProgress):  # type: ignore[name-defined, misc]
            """git's progress, line by line, given on."""

            def update(self, *_: object) -> None:
                told(self._cur_line or "")

        line: Callable[[str], None] = Progress().new_message_handler()
        return line
