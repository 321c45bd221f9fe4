"""Running a git command that contacts a remote: with a time limit, without prompts, in a process group of its own."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from threading import Thread
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from clawmem.vault.git.git import Git

if TYPE_CHECKING:
    from clawmem.model.progress import OnProgress

_GRACE = 2.0
_CHUNK = 4096


class RemoteOutput(NamedTuple):
    """The result of a remote command: git's exit code (None after a timeout), its stdout and stderr."""

    code: int | None
    printed: str
    complaint: str


def run_remote_git(
    git: Git, arguments: Sequence[str], seconds: float, on_progress: OnProgress | None = None
) -> RemoteOutput:
    """Run git with the user's configuration for at most `seconds`. `on_progress` gets its progress.

    When git times out, its child processes are killed too.
    """
    with git.with_user_config():
        surroundings = git.process_environment()
    # In a new session, so that ssh has no terminal for prompts and the whole process group can be killed.
    process = subprocess.Popen(
        git.command(arguments),
        cwd=git.root,
        env=surroundings,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    reader = _ProgressReader(process, on_progress, git.environment) if on_progress else None
    try:
        printed, complaint = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        _terminate(process)
        return RemoteOutput(None, "", "")
    except BaseException:
        _terminate(process)
        raise
    complaint = reader.output() if reader else complaint
    return RemoteOutput(process.returncode, printed.decode(errors="replace"), complaint.decode(errors="replace"))


def _terminate(process: subprocess.Popen[bytes]) -> None:
    """Terminate git and its child processes, so that git removes its lock files. Kill what is left after a grace
    period."""
    for sign in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, sign)
        with suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=_GRACE)


class _ProgressReader:
    """Reads git's stderr and passes its progress on."""

    def __init__(
        self, process: subprocess.Popen[bytes], on_progress: OnProgress, environment: Mapping[str, str]
    ) -> None:
        stream, process.stderr = process.stderr, None
        self._pieces: list[bytes] = []
        self._thread = Thread(target=self._read_lines, args=(stream, _progress(on_progress, environment)), daemon=True)
        self._thread.start()

    def output(self) -> bytes:
        """Return the complete stderr."""
        self._thread.join()
        return b"".join(self._pieces)

    def _read_lines(self, stream: IO[bytes], line: Callable[[str], None]) -> None:
        rest = b""
        with stream:
            while piece := os.read(stream.fileno(), _CHUNK):
                self._pieces.append(piece)
                *whole, rest = re.split(rb"[\r\n]+", rest + piece)
                for other in whole:
                    line(other.decode(errors="replace"))


def _progress(on_progress: OnProgress, environment: Mapping[str, str]) -> Callable[[str], None]:
    """Return a function that parses lines of git's progress and passes them on."""
    from clawmem.model.progress import Progress
    from clawmem.vault.history.history import gitpython  # 70 ms: only if progress is shown

    with gitpython(environment) as git:

        class GitProgress(git.RemoteProgress):  # type: ignore[name-defined, misc]
            """Passes the progress of git on, line by line."""

            def update(self, code: int, result: Any, total: Any = None, message: str | None = "") -> None:
                words = (self._cur_line or "").partition(":")[0].strip()
                on_progress(Progress(words, float(result or 0), float(total) if total else None, "objects"))

        line: Callable[[str], None] = GitProgress().new_message_handler()
        return line
