"""The server: it reads a message from a line, writes its answer as a line, and ends with its input.

Messages are worked off in the order in which they come, so that writes of one client keep their order.
"""

from __future__ import annotations

import gc
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import IO, Any

from clawmem.faces.mcp.protocol import INTERNAL_ERROR, PARSE_ERROR, Connection, failure
from clawmem.runtime import Runtime

MESSAGE_BYTES = 4_000_000
DEFAULT_AGENT = "agent"
_LIST = Path(__file__).with_name("tools.json")
_NOT_OF_AN_ID = re.compile(r"[^a-z0-9_-]+")


def serve(given: IO[bytes], out: IO[bytes], runtime_for: Callable[[str], Runtime]) -> int:
    """Answer the messages of one client until its input ends, and return how many there were.

    `runtime_for` makes the runtime of one call, for an agent with the id that is given to it: each call sees the
    settings and the clock of its own time.
    """

    listed: list[dict[str, Any]] = []

    def tools() -> list[dict[str, Any]]:
        listed[:] = listed or json.loads(_LIST.read_bytes())
        return listed

    gc.enable()  # a short command needs no collection, but this process lives for long
    count = 0
    with ExitStack() as while_it_runs:

        @cache
        def keep_stores_open() -> None:
            from clawmem.index.tables.store import stores_kept_open  # at the first call

            while_it_runs.enter_context(stores_kept_open())

        def dispatch(name: str, arguments: Mapping[str, Any], client: str | None) -> tuple[str, bool]:
            keep_stores_open()
            return _called(name, arguments, runtime_for(_agent(client)))

        connection = Connection(tools, dispatch)
        while line := given.readline(MESSAGE_BYTES):
            if not line.strip():
                continue
            count += 1
            answer = _answer(connection, line, given)
            if answer is not None:
                try:
                    out.write(json.dumps(answer, allow_nan=False).encode() + b"\n")
                    out.flush()
                except BrokenPipeError:
                    break
    return count


@contextmanager
def apart(given: IO[bytes], out: IO[bytes]) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    """stdin and stdout for the protocol alone: meanwhile, whatever else reads stdin finds nothing, whatever else writes
    to stdout writes to stderr, and programs that are started inherit neither."""
    try:
        numbers = given.fileno(), out.fileno()
    except (AttributeError, OSError):
        yield given, out  # not files
        return
    with os.fdopen(os.dup(numbers[0]), "rb") as source, os.fdopen(os.dup(numbers[1]), "wb") as target:
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, numbers[0])
        os.close(nothing)
        os.dup2(2, numbers[1])
        try:
            yield source, target
        finally:
            os.dup2(source.fileno(), numbers[0])
            os.dup2(target.fileno(), numbers[1])


def _answer(connection: Connection, line: bytes, given: IO[bytes]) -> Any:
    if len(line) >= MESSAGE_BYTES and not line.endswith(b"\n"):
        while line and not line.endswith(b"\n"):
            line = given.readline(MESSAGE_BYTES)
        return failure(None, PARSE_ERROR, f"The message is longer than {MESSAGE_BYTES:,} bytes.")
    try:
        message = json.loads(line, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return failure(None, PARSE_ERROR, "The line is not JSON.")
    try:
        return connection.answer(message)
    except Exception as problem:  # noqa: BLE001 - the client gets an answer to every request
        identity = message.get("id") if isinstance(message, dict) else None
        return failure(identity, INTERNAL_ERROR, f"clawmem has a bug: {type(problem).__name__}: {problem}.")


def _refuse_constant(name: str) -> None:
    """Refuse NaN and Infinity, which Python reads although they are no JSON."""
    raise ValueError(f"{name} is no JSON")


def _called(name: str, arguments: Mapping[str, Any], runtime: Runtime) -> tuple[str, bool]:
    """The answer of a tool as text, or the error with what can be done, and whether it is an error."""
    from clawmem.faces.mcp.tools import call_tool  # at the first call

    try:
        return call_tool(name, arguments, runtime), False
    except Exception as problem:  # noqa: BLE001 - the model gets every failure as text
        from clawmem.faces.parts.failures import explained

        found = explained(problem)
        return f"error ({found.code}): {found.message}" + (f"\nhint: {found.hint}" if found.hint else ""), True


def _agent(client: str | None) -> str:
    """The id of the agent that a client is: its name in the letters of an id."""
    name = _NOT_OF_AN_ID.sub("-", (client or "").lower()).strip("-_")
    return name[:40].strip("-_") or DEFAULT_AGENT
