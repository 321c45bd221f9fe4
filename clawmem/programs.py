"""Run a program of somebody else once: without a shell, within limits of time and output, or a person's editor."""

from __future__ import annotations

import hashlib
import os
import shlex
import shutil
import stat
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, NamedTuple

from clawmem.errors import InvalidInput, NotFound, Refused
from clawmem.platform.processes import end_group

# Seconds between two looks at the program, and for what it wrote last.
_PAUSE, _LAST_WORDS = 0.02, 0.5


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
        return run_in_folder(words, Path(folder), seconds, environment, most, most_errors, data)


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
    """
    started = time.monotonic()
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
        for reader in readers:
            reader.join(1)
    took = round((time.monotonic() - started) * 1000)
    return ProgramRun(bytes(output[:most]), bytes(errors[:most_errors]), code, len(output) > most, took)


def edited_text(text: str, editor: str) -> str | None:
    """Return a text as a person left it in an editor on this terminal; None if the editor failed.

    `editor` is a command line such as `code --wait`. Raise OSError or ValueError if it cannot be started."""
    with TemporaryDirectory(prefix="clawmem-") as folder:
        path = Path(folder, "fact.txt")
        path.write_text(f"{text}\n", encoding="utf-8")
        ended = subprocess.run([*shlex.split(editor), str(path)], check=False)
        return None if ended.returncode else path.read_text(encoding="utf-8", errors="replace")


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
