"""The log of errors on this machine: `.git/clawmem/errors.jsonl`, one error a line, bounded.

It has what a person needs to see that something fails again and again: the time, the verb, the code, and the message
without credentials. Mistakes in the arguments of a call are not in it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import NamedTuple

from clawmem.vault.disk import append_line, complete_lines

FILE = "errors.jsonl"
# Beyond this size, the older half is dropped.
MOST_BYTES = 128_000
_LONGEST = 500


class LoggedError(NamedTuple):
    """An error: when (ISO 8601 UTC), which verb, its stable code, its exit code and its message."""

    at: str
    verb: str
    code: str
    exit_code: int
    message: str


def log_error(state: Path, error: LoggedError) -> None:
    """Append an error to the log of a vault's state folder. Raise OSError if the disk does not take it."""
    path = state / FILE
    if path.exists() and path.stat().st_size > MOST_BYTES:
        _keep_newer_half(path)
    record = error._replace(message=error.message[:_LONGEST])._asdict()
    append_line(path, (json.dumps(record) + "\n").encode())


def logged_errors(state: Path) -> list[LoggedError]:
    """Return the errors in the log, oldest first. Lines that cannot be read are left out."""
    try:
        data = (state / FILE).read_bytes()
    except FileNotFoundError:
        return []
    found = []
    for line in complete_lines(data).decode(errors="replace").splitlines():
        try:
            found.append(LoggedError(**json.loads(line)))
        except (ValueError, TypeError):
            continue
    return found


def _keep_newer_half(path: Path) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    kept = path.with_suffix(".half")
    kept.write_bytes(b"".join(lines[len(lines) // 2 :]))
    kept.replace(path)
