"""The hook of a prompt, answered by an MCP server of the vault that runs anyway.

Loading the program and opening the index is more than half of what such a hook takes, and a server has done both. It
listens on a socket in the vault's state folder, which only the user can reach. The hook sends its own words, folder and
variables, so that the server knows no more and no other caller than the hook itself would.

This is the hook's side. It loads next to nothing.
"""

from __future__ import annotations

import io
import os
import select
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    import socket
    from collections.abc import Sequence

EVENTS = (
    "UserPromptSubmit", "SubagentStart", "BeforeAgent", "beforeSubmitPrompt", "chat_message", "before_prompt_build",
    "prompt",
)  # fmt: skip
"""The events of all harnesses at which a hook only gives a text. At others it starts processes, which a server should
not."""
PREFIX, ENDING = "mcp-", ".sock"
READY = b"+"
SECONDS = 2.0
READY_SECONDS = 0.2  # a server in the middle of a call may take longer: then the hook works itself
_MOST_BYTES = 4_000_000


def answered_by_server(words: Sequence[str]) -> bool:
    """Print the answer of a running server to a hook's command line `hook EVENT --harness NAME --vault PATH`, and maybe
    `--viewer NAME`.

    Return False, with stdin as it was, where there is no server, or the words are others."""
    if sys.platform == "win32" or not is_for_text(words) or os.isatty(0):
        return False
    state = os.path.join(words[5], ".git", "clawmem")
    try:
        names = [name for name in os.listdir(state) if name.startswith(PREFIX) and name.endswith(ENDING)]
    except OSError:
        return False
    if not names:
        return False
    payload = _stdin()
    if payload is None:
        return True  # as a hook that is late: it gives nothing, and the agent goes on
    variables = (b"%s=%s" % pair for pair in os.environb.items())
    request = b"\0".join((os.getcwdb(), *map(os.fsencode, words), *variables, b"", payload))
    for name in names:
        answer = _answer(os.path.join(state, name), request)
        if answer is None:
            return True
        out, _, err = answer.partition(b"\0")
        if err:
            for stream, data in ((sys.stdout, out), (sys.stderr, err[1:])):
                stream.buffer.write(data)
                stream.flush()
            return True
    sys.stdin = io.TextIOWrapper(io.BytesIO(payload))  # the hook does the work, and says what is wrong
    return False


def is_for_text(words: Sequence[str]) -> bool:
    """Return whether a command line only asks for a text in the words of `clawmem setup`."""
    known = "hook", "--harness", "--vault", "--viewer"
    return len(words) in (6, 8) and words[1] in EVENTS and (words[0], *words[2::2]) == known[: len(words) // 2]


def all_of(connection: socket.socket) -> bytes:
    """Return what the other side sends until it has sent all. Raise TimeoutError or another OSError."""
    parts = []
    while data := connection.recv(1 << 16):
        parts.append(data)
    return b"".join(parts)


def _stdin() -> bytes | None:
    """All of stdin, or None if it does not end in time."""
    end, parts, size = time.monotonic() + SECONDS, [b""], 0
    while size < _MOST_BYTES:
        if not select.select((0,), (), (), max(0.0, end - time.monotonic()))[0]:
            return None
        parts.append(os.read(0, 1 << 16))
        size += len(parts[-1])
        if not parts[-1]:
            break
    return b"".join(parts)


def _answer(path: str, request: bytes) -> bytes | None:
    """The answer of a server of this user; nothing if it is not ready, or ends in the middle; None if it is late. The
    socket of one that has ended is removed."""
    if sys.platform == "win32":
        return b""
    import socket  # only where a server may run: it takes milliseconds

    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(READY_SECONDS)
        try:
            if os.stat(path).st_uid != os.getuid():
                return b""
            connection.connect(path)
            if connection.recv(1) != READY:
                return b""
            connection.settimeout(SECONDS)
            connection.sendall(request)
            connection.shutdown(socket.SHUT_WR)
        except OSError as problem:
            if isinstance(problem, ConnectionRefusedError):
                os.unlink(path)
            return b""
        try:
            return all_of(connection)
        except OSError as problem:
            return None if isinstance(problem, TimeoutError) else b""
