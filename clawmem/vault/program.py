"""Read and run a program whose content a person allowed on this machine."""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from clawmem.errors import InvalidInput, NotFound, Refused
from clawmem.programs import run_within_limits

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
