"""Call a command-line model: the prompt on stdin, the answer on stdout, within a time limit."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from tempfile import TemporaryDirectory
from typing import IO, Any, NamedTuple

from clawmem.llm.presets import ModelCommand

# Answers are a few kilobytes. A program that writes more than this is ended.
MAX_ANSWER_BYTES = 1_000_000
MAX_ERROR_BYTES = 20_000
# Seconds between two looks at the program, and for what it wrote last.
_PAUSE, _LAST_WORDS = 0.02, 0.5
_TITLES = {"system": "", "assistant": "Your last answer:\n"}


class CommandResult(NamedTuple):
    """What a program wrote, its exit code (None: it was ended after the time limit), whether it wrote too much, and
    how long it took."""

    output: str
    errors: str
    code: int | None
    too_long: bool
    milliseconds: int


def render_prompt(messages: Sequence[Mapping[str, str]], schema: Mapping[str, Any]) -> str:
    """Return the messages as one text, with the schema of the answer at the end."""
    parts = [f"{_TITLES.get(one['role'], '')}{one['content']}" for one in messages]
    form = f"The answer is one JSON document that is valid under this JSON Schema:\n{json.dumps(schema)}"
    return "\n\n".join([*parts, form]) + "\n"


def run_command(command: ModelCommand, prompt: str, seconds: float) -> CommandResult:
    """Run the program once in an empty folder. After `seconds`, or an answer that is too long, it and every process
    that it started in its process group are killed.

    Raise OSError if the program cannot be started.
    """
    started = time.monotonic()
    with TemporaryDirectory(prefix="clawmem-", ignore_cleanup_errors=True) as folder:
        pipe = subprocess.PIPE
        process = subprocess.Popen(
            command.words, bufsize=0, stdin=pipe, stdout=pipe, stderr=pipe, cwd=folder,
            env=dict(command.environment), start_new_session=True,
        )  # fmt: skip
        output, errors = bytearray(), bytearray()
        readers: list[threading.Thread] = []
        try:
            readers = _start_threads(process, prompt.encode(), output, errors)
            code = _wait(process, readers[0], output, started + seconds)
        finally:
            _kill_group(process)
            for reader in readers:
                reader.join(1)
    return CommandResult(
        bytes(output[:MAX_ANSWER_BYTES]).decode(errors="replace"), bytes(errors).decode(errors="replace"),
        code, len(output) > MAX_ANSWER_BYTES, round((time.monotonic() - started) * 1000),
    )  # fmt: skip


def _start_threads(
    process: subprocess.Popen[bytes], prompt: bytes, output: bytearray, errors: bytearray
) -> list[threading.Thread]:
    """Start to feed the program and to read from it. Return the threads that read."""
    assert process.stdin and process.stdout and process.stderr
    threading.Thread(target=_feed, args=(process.stdin, prompt), daemon=True).start()
    readers = [
        threading.Thread(target=_collect, args=(process.stdout, output, MAX_ANSWER_BYTES, True), daemon=True),
        threading.Thread(target=_collect, args=(process.stderr, errors, MAX_ERROR_BYTES, False), daemon=True),
    ]
    for reader in readers:
        reader.start()
    return readers


def _wait(process: subprocess.Popen[bytes], reader: threading.Thread, output: bytearray, ends: float) -> int | None:
    """Wait until the program ends, writes too much, or the time is over. Return its exit code, None if it still runs.

    A process that it left behind may keep stdout open, so the end of stdout is not waited for.
    """
    while process.poll() is None and time.monotonic() < ends and len(output) <= MAX_ANSWER_BYTES:
        reader.join(_PAUSE)
        if not reader.is_alive():
            time.sleep(_PAUSE)
    if process.poll() is not None:
        reader.join(_LAST_WORDS)
    return process.poll()


def _feed(stdin: IO[bytes], prompt: bytes) -> None:
    # A program that does not read its whole input may still answer.
    with suppress(OSError, ValueError), stdin:
        rest = memoryview(prompt)
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
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
