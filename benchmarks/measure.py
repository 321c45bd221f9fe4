"""Timing whole processes against each other in one run, so that a figure is a ratio and the machine cancels out."""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple


class Timing(NamedTuple):
    """Seconds of each counted run of one command."""

    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        """The median in seconds."""
        return statistics.median(self.seconds)

    @property
    def p95(self) -> float:
        """The 95th percentile in seconds."""
        return sorted(self.seconds)[int(0.95 * (len(self.seconds) - 1))]


def run(
    command: Sequence[str], environment: Mapping[str, str], folder: Path, given: bytes = b"", must_print: bool = False
) -> float:
    """Run one process to its end and return the seconds it took; raises where it fails, or prints nothing but must."""
    start = time.perf_counter()
    process = subprocess.run(command, env=dict(environment), cwd=folder, input=given, capture_output=True)
    seconds = time.perf_counter() - start
    if process.returncode != 0:
        raise RuntimeError(f"{command} ended with {process.returncode}: {process.stderr.decode()}")
    if must_print and not process.stdout:
        raise RuntimeError(f"{command} printed nothing: {process.stderr.decode()}")
    return seconds


def in_turn(runs: int, *actions: Callable[[int], float]) -> list[Timing]:
    """Run the actions in turn, A B A B, after two rounds that are not counted; each gets the round's number."""
    rows: list[list[float]] = [[] for _ in actions]
    for number in range(-2, runs):
        for row, action in zip(rows, actions, strict=True):
            seconds = action(number)
            if number >= 0:
                row.append(seconds)
    return [Timing(tuple(row)) for row in rows]


def ratio(timing: Timing, other: Timing) -> float:
    """The median of the ratios round by round, which a drifting machine disturbs least."""
    return statistics.median(a / b for a, b in zip(timing.seconds, other.seconds, strict=True))


def peak_of_children() -> float:
    """The largest memory any finished child process had, in MB."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


def folder_size(folder: Path) -> int:
    """Bytes in all files below a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def environment(home: Path) -> dict[str, str]:
    """The environment of measured processes: a home of their own, nothing that slows Python down."""
    home.mkdir(parents=True, exist_ok=True)
    (home / ".gitconfig").write_text("[user]\n\tname = Bench\n\temail = bench@example.org\n")
    return {"PATH": os.environ["PATH"], "HOME": str(home), "LANG": "C.UTF-8"}
