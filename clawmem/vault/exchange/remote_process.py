"""Running a git command that contacts a remote: with a time limit, without prompts, in a process group of its own."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Thread
from typing import IO, TYPE_CHECKING, NamedTuple

from clawmem.errors import Locked
from clawmem.platform.processes import end_group, is_running
from clawmem.vault.disk import writer_lock
from clawmem.vault.git.git import Git

if TYPE_CHECKING:
    from clawmem.model.progress import OnProgress


_GRACE = 2.0
_CHUNK = 4096
# Shorter silence is usual: a host checks what was pushed to it, or a name is looked up.
_MIN_SILENCE = 60.0
_SILENCE_SHARE = 5
# Pieces of output within that time. A host that sends a byte now and then makes no progress.
_FEWEST_SIGNS = 3
# Of the pieces of stderr the last ones are kept, at most 16 MB.
_MOST_PIECES = 4096
_COUNTED = r"(?:remote: )?(?P<what>[A-Z][\w ]*): +(?:\d+% \((?P<done>\d+)/(?P<total>\d+)\)|(?P<count>\d+))"
# Lines of progress begin or end so, apart from those that a carriage return overwrites.
_PROGRESS, _COMPLETE = ("Delta compression ", "Total ", "remote: Total "), ", done."


class RemoteOutput(NamedTuple):
    """The result of a remote command: git's exit code, its stdout, and its stderr without progress.

    If git was ended because it took too long, the code is None, and `complaint` says how long."""

    code: int | None
    printed: str
    complaint: str


def run_remote_git(
    git: Git,
    arguments: Sequence[str],
    seconds: float,
    on_progress: OnProgress | None = None,
    silent_seconds: float | None = None,
) -> RemoteOutput:
    """Run git with the user's configuration for at most `seconds`. `on_progress` gets its progress.

    End it, with its child processes, at `seconds` or after `silent_seconds` without progress, by default a minute or a
    fifth of `seconds`, whichever is longer. Arguments that transfer objects must contain `--progress`.
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
    silence = max(_MIN_SILENCE, seconds / _SILENCE_SHARE) if silent_seconds is None else silent_seconds
    end = time.monotonic() + seconds
    try:
        reader = _ErrorReader(process, _progress(on_progress) if on_progress else None)
        while (now := time.monotonic()) < (limit := min(end, reader.signs[0] + silence)):
            with suppress(subprocess.TimeoutExpired):
                printed, _ = process.communicate(timeout=limit - now)
                return RemoteOutput(process.returncode, printed.decode(errors="replace"), reader.complaint())
    except BaseException:
        _terminate(process)
        raise
    _terminate(process)
    took = f"it took more than {seconds:g} seconds" if limit == end else f"it made no progress for {silence:g} seconds"
    return RemoteOutput(None, "", took)


def _terminate(process: subprocess.Popen[bytes]) -> None:
    """Terminate git and its child processes, so that git removes its lock files. Kill what is left after a grace
    period."""
    for kill in (False, True):
        end_group(process, kill)
        with suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=_GRACE)


class _ErrorReader:
    """Reads git's stderr, with the times of the last signs of progress, and passes its lines on."""

    def __init__(self, process: subprocess.Popen[bytes], on_line: Callable[[str], None] | None) -> None:
        stream, process.stderr = process.stderr, None
        self.signs = deque([time.monotonic()] * _FEWEST_SIGNS, _FEWEST_SIGNS)
        self._pieces = deque[bytes](maxlen=_MOST_PIECES)
        self._thread = Thread(target=self._read_lines, args=(stream, on_line), daemon=True)
        self._thread.start()

    def complaint(self) -> str:
        """Return the stderr of a git that has ended, without progress: all, unless another process keeps it open."""
        self._thread.join(_GRACE)
        text = b"".join(list(self._pieces)).decode(errors="replace").replace("\r\n", "\n")
        lines = [line.rpartition("\r")[2].rstrip() for line in text.split("\n")]
        return "\n".join(line for line in lines if not line.startswith(_PROGRESS) and not line.endswith(_COMPLETE))

    def _read_lines(self, stream: IO[bytes], on_line: Callable[[str], None] | None) -> None:
        rest = b""
        with stream:
            while piece := os.read(stream.fileno(), _CHUNK):
                self.signs.append(time.monotonic())
                self._pieces.append(piece)
                if on_line:
                    *whole, rest = re.split(rb"[\r\n]+", rest[-_CHUNK:] + piece)
                    for line in whole:
                        on_line(line.decode(errors="replace"))


def _progress(on_progress: OnProgress) -> Callable[[str], None]:
    """Return a function that parses lines of git's progress and passes them on."""
    from clawmem.model.progress import Progress

    def pass_on(line: str) -> None:
        found = re.match(_COUNTED, line)
        if found:
            total = float(found["total"]) if found["total"] else None
            on_progress(Progress(found["what"], float(found["done"] or found["count"]), total, "objects"))

    return pass_on


_ENDING = ".making"
# Longer than it takes to create the folder and lock it.
_UNLOCKED_SECONDS = 60


class Staging(NamedTuple):
    """The folder and the descriptor of its lock. A process that inherits the descriptor keeps the folder from being
    deleted."""

    folder: Path
    descriptor: int

    def git(self, root: Path, like: Git) -> Git:
        """Return git for a repository in the folder, with the environment of another."""
        mine = Git(root, like.environment)
        mine.inherited_descriptors = (self.descriptor,)
        return mine


@contextmanager
def staging(target: Path) -> Iterator[Staging]:
    """Yield a new folder beside `target`. It is deleted in the end, with those that killed processes left behind."""
    _sweep(target)
    folder = target.with_name(f".{target.name}.{os.getpid()}.{time.time_ns():x}{_ENDING}")
    folder.mkdir(mode=0o700)
    try:
        with writer_lock(folder / "lock", 0, "making") as descriptor:
            yield Staging(folder, descriptor)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def create_parents(target: Path) -> Iterator[None]:
    """Create the missing parent folders of `target`, and delete them again if the code in this context fails."""
    missing = [folder for folder in target.parents if not folder.exists()]
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        yield
    except BaseException:
        for folder in missing:
            with suppress(OSError):
                folder.rmdir()
        raise


def leftover_folders(target: Path) -> list[Path]:
    """Return the staging folders beside `target`."""
    start = f".{target.name}."
    names = [name for name in os.listdir(target.parent) if name.startswith(start) and name.endswith(_ENDING)]  # noqa: PTH208
    return [target.with_name(name) for name in sorted(names) if name[len(start) :].count(".") == 2]


def _sweep(target: Path) -> None:
    for folder in leftover_folders(target):
        # A process and its git commands hold the lock while they run, except for a moment at the start.
        process, made = folder.name.removeprefix(f".{target.name}.").removesuffix(_ENDING).split(".")
        if _is_young(made) and is_running(process):
            continue
        try:
            with writer_lock(folder / "lock", 0, "sweeping"):
                shutil.rmtree(folder, ignore_errors=True)
        except FileNotFoundError:
            shutil.rmtree(folder, ignore_errors=True)
        except (Locked, PermissionError):
            continue


def _is_young(made: str) -> bool:
    try:
        return time.time() - int(made, 16) / 1e9 < _UNLOCKED_SECONDS
    except ValueError:
        return False
