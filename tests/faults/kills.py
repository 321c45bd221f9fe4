"""Commands killed with SIGKILL at random moments, and what must be true after each."""

from __future__ import annotations

import os
import random
import signal
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from tests.command_server import ForkedCommand, shared_server
from tests.faults.checks import assert_sound, assert_whole, facts


class Tally(NamedTuple):
    """How many runs were killed before their end, and how many ended first."""

    killed: int
    finished: int


class Arena:
    """A vault in which commands are killed; it knows what was acknowledged."""

    def __init__(self, root: Path, environment: Mapping[str, str], seed: int) -> None:
        self.root = root
        # Ids must differ from run to run, as they do in life.
        self.environment = {key: value for key, value in environment.items() if key != "CLAWMEM_SEED"}
        self.acknowledged: list[str] = []
        self.chance = random.Random(seed)

    @contextmanager
    def _started(self, *arguments: str) -> Iterator[tuple[ForkedCommand, Callable[[], str]]]:
        """Start a command in a separate process group; with it comes what returns what it said on stderr."""

        def said() -> str:
            errors.seek(0)
            return errors.read().decode()

        with open(os.devnull, "r+b") as null, tempfile.TemporaryFile() as errors:  # noqa: PTH123
            streams = (null.fileno(), null.fileno(), errors.fileno())
            yield shared_server().start(arguments, streams, self.root, self.environment), said

    def run(self, *arguments: str) -> None:
        """Run a command, which must succeed unaided."""
        with self._started(*arguments) as (command, said):
            assert command.ended(300), arguments
            assert command.poll() == 0, (arguments, said())

    def remember(self, text: str) -> None:
        """Keep a fact that must be there from now on."""
        self.run("remember", text, "--entity", "areas/arena")
        self.acknowledged.append(text)

    def kill(self, arguments: tuple[str, ...], delay: float, whole_group: bool) -> int:
        """Start a command and kill it after `delay` seconds, alone or with its git processes; its exit code."""
        with self._started(*arguments) as (command, said):
            if not command.ended(delay):
                with suppress(ProcessLookupError):  # it has just ended
                    (os.killpg if whole_group else os.kill)(command.pid, signal.SIGKILL)
            assert command.ended(300), arguments
            code = command.poll()
            assert code in (0, -signal.SIGKILL), (arguments, code, said())
        return code

    def duration(self, arguments: tuple[str, ...]) -> float:
        """Return how many seconds a command takes if it is not killed."""
        start = time.perf_counter()
        self.run(*arguments)
        return time.perf_counter() - start

    def check(self, number: int) -> None:
        """The next command works unaided; then the vault is whole and holds all that was acknowledged, once."""
        self.remember(f"The next command works, number {number}.")
        assert_whole(self.root, self.environment)
        texts = [record["fact"] for record in facts(self.root)]
        assert set(self.acknowledged) <= set(texts)
        assert len(texts) == len(set(texts))
        if number % 20 == 0:
            assert_sound(self.root, self.environment)


def kill_many(
    arena: Arena,
    count: int,
    command: Callable[[int], tuple[str, ...]],
    acknowledge: Callable[[int], None] = lambda number: None,
) -> Tally:
    """Kill `count` runs of a command at moments spread over its duration, half of them with their git processes.

    Runs that end before their kill come on top; what they said is held against the vault from then on.
    """
    typical = sorted(arena.duration(command(number)) for number in (-1, -2, -3))[1]
    killed = 0
    number = 0
    while killed < count:
        moment = arena.chance.uniform(0, 1.05)
        arguments = command(number)
        start = time.perf_counter()
        code = arena.kill(arguments, typical * moment, whole_group=number % 2 == 0)
        if code == 0:
            acknowledge(number)
            # The machine's load changes: follow it down where a run ended early, up where one was overtaken late.
            typical = 0.7 * typical + 0.3 * (time.perf_counter() - start)
        else:
            killed += 1
            typical *= 1.03 if moment > 1 else 1.0
        arena.check(number)
        number += 1
    assert_sound(arena.root, arena.environment)
    return Tally(killed, number - killed)
