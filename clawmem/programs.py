"""Run a program of somebody else once: without a shell, within limits of time and output, or a person's editor."""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import signal
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, NamedTuple

from clawmem.errors import InvalidInput, NotFound, Refused
from clawmem.platform.processes import end_group

# Seconds between two looks at the program, and for what it wrote last.
_PAUSE, _LAST_WORDS = 0.02, 0.5
# Seconds in which the processes that a program left behind have to be gone.
_LEFT_SECONDS = 2.0
# The option of Linux' prctl by which the orphans of all descendants become children of this process.
_SET_CHILD_SUBREAPER = 36


class ProgramRun(NamedTuple):
    """What a program wrote, its exit code (None: it was ended), whether it wrote too much, and how long it took."""

    output: bytes
    errors: bytes
    code: int | None
    too_long: bool
    milliseconds: int


def run_within_limits(
    words: Sequence[str], data: bytes, seconds: float, environment: Mapping[str, str], most: int, most_errors: int
) -> ProgramRun:
    """Run the program once with `given` on stdin. Its working folder is empty and temporary.

    After `seconds`, or more than `most` bytes on stdout, it and every process that it started in its process group are
    killed. At most `most_errors` bytes of stderr are kept. Raise OSError if the program cannot be started.
    """
    with TemporaryDirectory(prefix="clawmem-", ignore_cleanup_errors=True) as folder:
        return _run(words, data, seconds, environment, Path(folder), (most, most_errors))


def run_in_folder(
    words: Sequence[str],
    folder: Path,
    seconds: float,
    environment: Mapping[str, str],
    most: int,
    most_errors: int,
    data: bytes = b"",
    program: str | None = None,
) -> ProgramRun:
    """Run the program once in a folder, with `given` on stdin, within the limits of `run_within_limits`.

    `program` is the file to execute, if it is another one than the first word names.

    On Linux, processes that left its process group are killed, too. No thread may start a process meanwhile."""
    with _orphans_killed() as kill_orphans:
        return _run(words, data, seconds, environment, folder, (most, most_errors), kill_orphans, program)


def edited_text(text: str, editor: str) -> str | None:
    """Return a text as a person left it in an editor on this terminal; None if the editor failed.

    `editor` is a command line such as `code --wait`. Raise OSError or ValueError if it cannot be started."""
    with TemporaryDirectory(prefix="clawmem-") as folder:
        path = Path(folder, "fact.txt")
        path.write_text(f"{text}\n", encoding="utf-8")
        ended = subprocess.run([*shlex.split(editor), str(path)], check=False)
        return None if ended.returncode else path.read_text(encoding="utf-8", errors="replace")


def _run(
    words: Sequence[str],
    data: bytes,
    seconds: float,
    environment: Mapping[str, str],
    folder: Path,
    limits: tuple[int, int],
    kill_orphans: Callable[[], None] = lambda: None,
    program: str | None = None,
) -> ProgramRun:
    started = time.monotonic()
    most, most_errors = limits
    pipe = subprocess.PIPE
    process = subprocess.Popen(
        words, bufsize=0, stdin=pipe, stdout=pipe, stderr=pipe, cwd=folder, env=dict(environment),
        start_new_session=True, executable=program,
    )  # fmt: skip
    output, errors = bytearray(), bytearray()
    readers: list[threading.Thread] = []
    try:
        readers = _start_threads(process, data, (output, most), (errors, most_errors))
        code = _wait(process, readers[0], output, most, started + seconds)
    finally:
        _kill_group(process)
        kill_orphans()
        for reader in readers:
            reader.join(1)
    took = round((time.monotonic() - started) * 1000)
    return ProgramRun(bytes(output[:most]), bytes(errors[:most_errors]), code, len(output) > most, took)


def _start_threads(
    process: subprocess.Popen[bytes], data: bytes, output: tuple[bytearray, int], errors: tuple[bytearray, int]
) -> list[threading.Thread]:
    """Start to feed the program and to read from it. Return the threads that read."""
    assert process.stdin and process.stdout and process.stderr
    threading.Thread(target=_feed, args=(process.stdin, data), daemon=True).start()
    readers = [
        threading.Thread(target=_collect, args=(process.stdout, *output, True), daemon=True),
        threading.Thread(target=_collect, args=(process.stderr, *errors, False), daemon=True),
    ]
    for reader in readers:
        reader.start()
    return readers


def _wait(
    process: subprocess.Popen[bytes], reader: threading.Thread, output: bytearray, most: int, ends: float
) -> int | None:
    """Wait until the program ends, writes too much, or the time is over. Return its exit code, None if it still runs.

    A process that it left behind may keep stdout open, so the end of stdout is not waited for.
    """
    while process.poll() is None and time.monotonic() < ends and len(output) <= most:
        reader.join(_PAUSE)
        if not reader.is_alive():
            time.sleep(_PAUSE)
    if process.poll() is not None:
        reader.join(_LAST_WORDS)
    return process.poll()


def _feed(stdin: IO[bytes], data: bytes) -> None:
    # A program that does not read its whole input may still answer.
    with suppress(OSError, ValueError), stdin:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(stdin.fileno(), rest) :]


def _collect(stream: IO[bytes], into: bytearray, most: int, ends: bool) -> None:
    """Read to the end, and keep one byte more than `most` at the most. If `ends` is true, stop there."""
    with suppress(OSError, ValueError), stream:
        while part := os.read(stream.fileno(), 65_536):
            into += part[: max(0, most + 1 - len(into))]
            if ends and len(into) > most:
                return


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    """Kill the process and the rest of its group, and collect it."""
    end_group(process, kill=True)
    process.wait()


@contextmanager
def _orphans_killed() -> Iterator[Callable[[], None]]:
    """Yield a function that kills what the programs that were started meanwhile left behind.

    Their orphans become children of this process, whatever their process group. Those in another session than this
    process are not its own."""
    if sys.platform != "linux":
        yield lambda: None
        return
    import ctypes  # few runs need it

    prctl = ctypes.CDLL(None).prctl
    before = {number for number, _, _ in _processes()}
    prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        yield lambda: _kill_left_behind(before)
    finally:
        prctl(_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


def _kill_left_behind(before: set[int]) -> None:
    if sys.platform == "win32":
        return
    ends = time.monotonic() + _LEFT_SECONDS
    while (left := _left_behind(before)) and time.monotonic() < ends:
        for number in left:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(number, signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(number, os.WNOHANG)
        time.sleep(_PAUSE / 4)


def _left_behind(before: set[int]) -> set[int]:
    """Return the new processes of other sessions that are children of this process, and all their descendants."""
    processes = _processes()
    fresh = [process for process in processes if process[0] not in before]
    session = next(its for process, _, its in processes if process == os.getpid())
    found = {process for process, parent, its in fresh if parent == os.getpid() and its != session}
    while more := {process for process, parent, _ in fresh if parent in found} - found:
        found |= more
    return found


def _processes() -> list[tuple[int, int, int]]:
    """Return process id, parent and session of each process."""
    found = []
    for place in Path("/proc").iterdir():
        if place.name.isdigit():
            with suppress(OSError, ValueError):
                fields = (place / "stat").read_bytes().rpartition(b")")[2].split()
                found.append((int(place.name), int(fields[1]), int(fields[3])))
    return found


# Read and run a program whose content a person allowed on this machine.

MOST_BYTES = 5_000_000
"""The most that a program may write, and the largest program file."""
_MOST_ERRORS = 2_000
# What a program may need to start. Keys, tokens and the settings of clawmem are not passed on.
_PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "TZ")


class Program(NamedTuple):
    """The content of an executable file, where it is, and its SHA-256 in hexadecimal digits."""

    path: str
    content: bytes
    checksum: str


def read_program(named: str, root: Path) -> Program:
    """Read an executable: a path below `root` (the vault), an absolute path, or the name of a command.

    Raise NotFound if there is none, InvalidInput if it is no plain file, or too large."""
    if "\0" in named or not named.strip():
        raise InvalidInput("The name of the program is empty or not text.", "Name an executable file.")
    if "/" in named:
        path = Path(named) if named.startswith("/") else root / named
    else:
        found = shutil.which(named, path=os.environ.get("PATH", os.defpath))
        path = Path(found) if found else root / named
    try:
        with path.open("rb") as file:
            state = os.fstat(file.fileno())
            if not stat.S_ISREG(state.st_mode) or state.st_size > MOST_BYTES * 20:
                raise InvalidInput(f"{path} is no plain file, or too large.", "Name an executable file.")
            content = file.read()
    except OSError as problem:
        raise NotFound(
            f"The program {named} cannot be read: {problem.strerror}.", f"It was looked for at {path}."
        ) from None
    return Program(str(path), content, hashlib.sha256(content).hexdigest())


def run_allowed(program: Program, data: bytes, seconds: float) -> bytes:
    """Run the program with `given` on stdin, and return what it wrote to stdout.

    It is a copy of the content that was read, so the file may change meanwhile. Its environment has PATH, HOME, the
    language and the time zone only. Raise Refused if it cannot be started, fails, takes more than `seconds`, or writes
    more than 5 MB."""
    name = Path(program.path).name
    environment = {key: os.environ[key] for key in _PASSED_ON if key in os.environ}
    with TemporaryDirectory(prefix="clawmem-", ignore_cleanup_errors=True) as folder:
        copy = Path(folder, name)
        copy.write_bytes(program.content)
        copy.chmod(0o700)
        try:
            run = run_within_limits([str(copy)], data, seconds, environment, MOST_BYTES, _MOST_ERRORS)
        except OSError as problem:
            hint = "A script begins with a line such as #!/usr/bin/env python3."
            raise Refused(f"The program {name} cannot be started: {problem.strerror}.", hint) from None
    if run.too_long:
        raise Refused(f"The program {name} wrote more than {MOST_BYTES:,} bytes, and was ended.", _HINT)
    if run.code is None:
        raise Refused(f"The program {name} took more than {seconds:g} seconds, and was ended.", _HINT)
    if run.code:
        text = run.errors.decode(errors="replace").strip().rpartition("\n")[2][:200]
        raise Refused(f"The program {name} failed with exit code {run.code}{f': {text}' if text else ''}.", _HINT)
    return run.output


_HINT = "Nothing was stored. Try the program by hand with JSON on stdin."


def install_command(extra: str, *packages: str) -> str:
    """Return the command that installs an extra of this clawmem: with its packages, where pipx or uv installed it."""
    folders = sys.prefix.replace("\\", "/").split("/")
    if "pipx" in folders:
        return f"pipx inject clawmem-vault {' '.join(map(shlex.quote, packages))}"
    if "uv" in folders and "tools" in folders:
        return f"uv tool install {' '.join(f'--with {shlex.quote(package)}' for package in packages)} clawmem-vault"
    return f"pip install 'clawmem-vault[{extra}]'"
