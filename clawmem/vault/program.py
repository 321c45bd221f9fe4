"""Run a program that a person allowed on this machine: without a shell, in an empty folder, within limits."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import stat
import subprocess
import threading
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO, NamedTuple

from clawmem.errors import InvalidInput, NotFound, Refused

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


def run_program(program: Program, given: bytes, seconds: float) -> bytes:
    """Run the program with `given` on stdin, and return what it wrote to stdout.

    It is a copy of the content that was read, so the file may change meanwhile. Its working folder is empty and
    temporary; its environment has PATH, HOME, the language and the time zone only. Raise Refused if it cannot be
    started, fails, takes more than `seconds`, or writes more than 5 MB."""
    name = Path(program.path).name
    with TemporaryDirectory(prefix="clawmem-", ignore_cleanup_errors=True) as folder:
        place = Path(folder, "program")
        place.mkdir(mode=0o700)
        copy, work = place / name, Path(folder, "work")
        work.mkdir()
        copy.write_bytes(program.content)
        copy.chmod(0o700)
        environment = {key: os.environ[key] for key in _PASSED_ON if key in os.environ}
        pipe = subprocess.PIPE
        try:
            process = subprocess.Popen(
                [str(copy)], bufsize=0, stdin=pipe, stdout=pipe, stderr=pipe, cwd=work, env=environment,
                start_new_session=True,
            )  # fmt: skip
        except OSError as problem:
            hint = "A script begins with a line such as #!/usr/bin/env python3."
            raise Refused(f"The program {name} cannot be started: {problem.strerror}.", hint) from None
        output, errors, code = _talk(process, given, seconds)
    if code is None:
        raise Refused(f"The program {name} took more than {seconds:g} seconds, and was ended.", _HINT)
    if len(output) > MOST_BYTES:
        raise Refused(f"The program {name} wrote more than {MOST_BYTES:,} bytes, and was ended.", _HINT)
    if code:
        said = errors.decode(errors="replace").strip().rpartition("\n")[2][:200]
        raise Refused(f"The program {name} failed with exit code {code}{f': {said}' if said else ''}.", _HINT)
    return bytes(output)


_HINT = "Nothing was stored. Try the program by hand with JSON on stdin."


def _talk(process: subprocess.Popen[bytes], given: bytes, seconds: float) -> tuple[bytearray, bytearray, int | None]:
    """Return stdout, stderr, and the exit code, None if the time was over. Kill what is left of the process group."""
    assert process.stdin and process.stdout and process.stderr
    output, errors = bytearray(), bytearray()
    readers = [
        threading.Thread(target=_collect, args=(process.stdout, output, MOST_BYTES, process), daemon=True),
        threading.Thread(target=_collect, args=(process.stderr, errors, _MOST_ERRORS, None), daemon=True),
    ]
    for thread in (*readers, threading.Thread(target=_feed, args=(process.stdin, given), daemon=True)):
        thread.start()
    try:
        code: int | None = process.wait(seconds)
        readers[0].join(0.5)
    except subprocess.TimeoutExpired:
        code = None
    finally:
        _kill(process)
        process.wait()
        for thread in readers:
            thread.join(1)
    return output, errors, code


def _feed(stdin: IO[bytes], given: bytes) -> None:
    with suppress(OSError, ValueError), stdin:  # a program that reads only a part may still answer
        rest = memoryview(given)
        while rest:
            rest = rest[os.write(stdin.fileno(), rest) :]


def _collect(stream: IO[bytes], into: bytearray, most: int, ends: subprocess.Popen[bytes] | None) -> None:
    """Read to the end, and keep at most one byte more than `most`; then end that process, if one is given."""
    with suppress(OSError, ValueError), stream:
        while part := os.read(stream.fileno(), 65_536):
            into += part[: max(0, most + 1 - len(into))]
            if ends is not None and len(into) > most:
                _kill(ends)
                return


def _kill(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
