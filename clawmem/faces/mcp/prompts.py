"""The server's side of a prompt's hook that a running MCP server answers; `clawmem.faces.prompt_hook` is the other."""

from __future__ import annotations

import io
import os
import select
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from clawmem.faces.parts.command import Table
from clawmem.faces.prompt_hook import ENDING, PREFIX, READY, READY_SECONDS, all_of, is_for_text
from clawmem.model.language.text import visible
from clawmem.runtime import Runtime


@contextmanager
def beside_hooks(source: IO[bytes], state: Path, prepare: Callable[[], None]) -> Iterator[IO[bytes]]:
    """Yield the same input, which answers the hooks of a vault while it waits for data.

    `state` is the vault's state folder; `prepare` is called before each hook. Where no socket can be made, such as
    below a path that is too long for its name, the input is yielded as it is."""
    path = state / f"{PREFIX}{os.getpid()}{ENDING}"
    path.unlink(missing_ok=True)  # in a container a process often has the number of one that was killed
    before = os.umask(0o177)
    try:
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(path))
    except (OSError, AttributeError):
        listener = None
    finally:
        os.umask(before)
    if listener is None:
        yield source
        return
    with listener:
        listener.listen()
        try:
            yield io.BufferedReader(_InputBesideHooks(source, listener, prepare))
        finally:
            path.unlink(missing_ok=True)


class _InputBesideHooks(io.RawIOBase):
    def __init__(self, source: IO[bytes], listener: socket.socket, prepare: Callable[[], None]) -> None:
        self._source = source
        self._listener = listener
        self._prepare = prepare

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        waits = self._source.fileno(), self._listener.fileno()
        while waits[0] not in select.select(waits, (), ())[0]:
            self._prepare()
            _answer_hook(self._listener)
        data = os.read(waits[0], len(buffer))
        buffer[: len(data)] = data
        return len(data)


def _answer_hook(listener: socket.socket) -> None:
    try:
        with listener.accept()[0] as connection:
            connection.settimeout(READY_SECONDS)
            connection.sendall(READY)
            if request := all_of(connection):
                connection.sendall(_answer(request))
    except Exception:  # noqa: BLE001 - the hook finds no answer, does the work itself and says what is wrong
        return


def _answer(request: bytes) -> bytes:
    """What the hook prints on stdout, a zero byte, and what it prints on stderr behind a line feed."""
    from clawmem.faces.mcp.tools import ToolCall
    from clawmem.faces.verbs.hook import hook

    head, _, payload = request.partition(b"\0\0")
    folder, *texts = map(os.fsdecode, head.split(b"\0"))
    words, variables = texts[:6], texts[6:]
    if not is_for_text(words):
        raise ValueError(words)
    runtime = Runtime(dict(text.split("=", 1) for text in variables), Path(folder), words[5])
    runtime.check_verb(words[0])
    call = ToolCall(runtime, payload.decode("utf-8", "replace"))
    answer = hook(call, words[1], words[3]).finished(call.runtime)
    assert not isinstance(answer.lines, Table)
    out = "".join(f"{visible(line)}\n" for line in answer.lines)
    err = "".join(f"note: {visible(note)}\n" for note in (*answer.notices, *answer.talk))
    return f"{out}\0\n{err}".encode()
