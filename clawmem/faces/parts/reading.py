"""Input from a file or from stdin, and JSON Lines with line numbers."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from clawmem.errors import InvalidInput, NotFound, StorageFailed
from clawmem.faces.parts.command import Call
from clawmem.model.records.strict_json import json_problem, read_json


def stdin_text(call: Call) -> str:
    """All of stdin as text; InvalidInput where it is not UTF-8 or a terminal."""
    o = call.stdin()
    if o is None:
        raise InvalidInput("There is no input on stdin.", "Pipe the text in: `echo 'a fact' | clawmem remember -`.")
    return _text(o.read(), "stdin", "Convert it to UTF-8 first.")


def file_or_stdin(call: Call, argument: str) -> str:
    """A file's text, or all of stdin where the argument is `-`."""
    if argument == "-":
        return stdin_text(call)
    with _open(argument) as file:
        return _text(file.read(), argument, "Convert it first.")


def _text(data: bytes, name: str, hint: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise InvalidInput(f"{name} is not UTF-8 text (byte {problem.start}).", hint) from None


@contextmanager
def opened(call: Call, argument: str) -> Iterator[IO[bytes]]:
    """A file, or all of stdin where the argument is `-`, to be read in pieces and from its beginning again.

    What comes through a pipe is kept in a temporary file first: a slow writer does not block other commands.
    """
    o = call.stdin() if argument == "-" else _open(argument)
    if o is None:
        raise InvalidInput("There is no input on stdin.", "Pipe it in: `clawmem ingest - < chat.jsonl`.")
    with o as file:
        if file.seekable():
            yield file
            return
        with _kept(file) as copy:
            yield copy


def open_regular(path: Path) -> IO[bytes]:
    """Open a file to read, without waiting for anybody. Raise InvalidInput for a pipe, a device or a folder."""
    file = _open(str(path), os.O_NONBLOCK)
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise InvalidInput(f"{path} is not a regular file.", "Name a file.")
    return file


def _open(path: str, flags: int = 0) -> IO[bytes]:
    """Open a file to read; the error on failure names this file and not the vault."""
    try:
        return open(path, "rb", opener=lambda name, mode: os.open(name, mode | flags))
    except FileNotFoundError:
        raise NotFound(f"There is no file {path}.", "Name a file, or - for stdin.") from None
    except IsADirectoryError:
        raise InvalidInput(f"{path} is a folder.", "Name a file, or - for stdin.") from None
    except OSError as problem:
        raise StorageFailed(f"{path} cannot be read: {problem.strerror}.", "Name a file that you can read.") from None


def _kept(file: IO[bytes]) -> IO[bytes]:
    import shutil  # only for pipes
    import tempfile

    copy = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it
    shutil.copyfileobj(file, copy)
    copy.seek(0)
    return copy


def json_lines(text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Each JSON object with its 1-based line number; InvalidInput naming the line that is none."""
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            record = read_json(line)
        except ValueError as problem:
            raise InvalidInput(
                f"Line {number} is not JSON: {json_problem(problem)}.",
                "Nothing was stored; correct the line and try again.",
            ) from None
        if not isinstance(record, dict):
            raise InvalidInput(
                f"Line {number} is not a JSON object.", "Nothing was stored; correct the line and try again."
            )
        yield number, record
