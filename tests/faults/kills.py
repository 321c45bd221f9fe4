"""Real commands killed with SIGKILL at random moments, and what must be true after each."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

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

    def start(self, *arguments: str) -> subprocess.Popen[bytes]:
        """Start a real command in a separate process group."""
        return subprocess.Popen(
            [sys.executable, "-m", "clawmem", *arguments],
            cwd=self.root,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )

    def run(self, *arguments: str) -> None:
        """Run a real command, which must succeed unaided."""
        process = self.start(*arguments)
        text = process.communicate(timeout=300)[1].decode()
        assert process.returncode == 0, (arguments, text)

    def remember(self, text: str) -> None:
        """Keep a fact that must be there from now on."""
        self.run("remember", text, "--entity", "areas/arena")
        self.acknowledged.append(text)

    def kill(self, arguments: tuple[str, ...], delay: float, whole_group: bool) -> int:
        """Start a command and kill it after `delay` seconds, alone or with its git processes; its exit code."""
        process = self.start(*arguments)
        try:
            process.wait(delay)
        except subprocess.TimeoutExpired:
            if whole_group:
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
        text = process.communicate()[1].decode()
        assert process.returncode in (0, -signal.SIGKILL), (arguments, process.returncode, text)
        return process.returncode

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
        # The first half of a command is Python starting: two in three kills fall into the second.
        moment = arena.chance.uniform(0 if number % 3 == 0 else 0.5, 1.05)
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
