"""A year of events in one vault: what the first heartbeat costs, what the second, and how fast events go in."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.corpus import Words
from benchmarks.measure import environment, folder_size
from benchmarks.report import Row

_CLAWMEM = [str(Path(sys.executable).with_name("clawmem"))]
START = datetime(2025, 11, 22, 8, tzinfo=UTC)
_SMALL_TALK = (
    "Hey, how are you doing today?",
    "That sounds great, thanks for telling me!",
    "Haha, I can imagine.",
    "Wow, what happened next with the {noun}?",
    "I'm so tired today, the {noun} took for ever.",
    "Talk to you later, bye!",
    "Could you look at the {noun} again when you have a minute?",
    "Good luck with the {noun} and the {noun2}!",
)
_NEWS = (
    "I moved to {name} last month.",
    "I started working at {name} as a {noun} engineer.",
    "My sister {name} lives in {name2}.",
    "We decided to use {name} for the {noun}, because {name2} broke twice.",
    "I'm allergic to {noun}.",
    "I adopted a dog named {name} last week.",
    "I bought a {noun} from {name} yesterday.",
    "The deadline for the {noun} is March 3.",
    "I prefer {noun} over {noun2}.",
    "I joined a {noun} club in {name} last Friday.",
)


class Run(NamedTuple):
    """One measured process: its seconds, its peak memory in MB, and what it answered."""

    seconds: float
    peak: float
    data: dict[str, Any]


def year_of_talk(count: int, seed: int = 1) -> Iterator[str]:
    """Lines for `clawmem ingest`: two people over a year, one message in five worth keeping."""
    chance = random.Random(seed)
    words = Words(chance)
    for number in range(count):
        pattern = chance.choice(_NEWS if chance.random() < 0.2 else _SMALL_TALK)
        text = pattern.format(name=words.name(), name2=words.name(), noun=words.word(), noun2=words.word())
        when = START + timedelta(days=365) * number / count
        record = {"role": "user", "speaker": ("Ada", "Ben")[number % 2], "content": text, "id": f"m{number}"}
        yield json.dumps({**record, "timestamp": when.isoformat(), "session": f"s{number // 60}"})


def year_rows(folder: Path, events: int = 20_000, many: int = 100_000) -> Iterator[Row]:
    """The heartbeat over a year, its second run, and the ingest of many events."""
    env = environment(folder / "home")
    root = folder / "year"
    _run(["init", str(root)], folder, env)
    _run(["ingest", "-", "--format", "jsonl"], root, env, "\n".join(year_of_talk(events)))
    first = _run(["heartbeat"], root, env)
    commits, facts = len(first.data["commits"]), first.data["learned"]["added"]
    sizes = f"{commits} commits, {facts:,} facts, .git {folder_size(root / '.git') / 1e6:.0f} MB"
    yield Row(f"heartbeat over {events:,} events, seconds", first.seconds, 60, sizes)
    yield Row("its peak memory, MB", first.peak, 200)
    second = _run(["heartbeat"], root, env)
    yield Row("the second heartbeat, seconds", second.seconds, 2, f"{len(second.data['commits'])} commits")
    small = _run(
        ["ingest", "-", "--format", "jsonl"], _new(folder, "small", env), env, "\n".join(year_of_talk(many // 5))
    )
    large = _run(["ingest", "-", "--format", "jsonl"], _new(folder, "large", env), env, "\n".join(year_of_talk(many)))
    rate = many / large.seconds
    yield Row(f"ingest of {many:,} events, events a second", rate, 1000, f"{large.seconds:.1f} s", at_least=True)
    detail = f"{large.peak:.0f} MB / {small.peak:.0f} MB"
    yield Row(f"its peak memory / that of {many // 5:,} events", large.peak / small.peak, 1.5, detail)


def _new(folder: Path, name: str, env: dict[str, str]) -> Path:
    _run(["init", str(folder / name)], folder, env)
    return folder / name


def _run(arguments: list[str], root: Path, env: dict[str, str], value: str = "") -> Run:
    start = time.perf_counter()
    with tempfile.TemporaryFile() as words, tempfile.TemporaryFile() as answer:
        words.write(value.encode())
        words.seek(0)
        process = subprocess.Popen([*_CLAWMEM, *arguments, "--json"], cwd=root, env=env, stdin=words, stdout=answer)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        answer.seek(0)
        document = json.loads(answer.read())
    if status != 0:
        raise RuntimeError(f"{arguments} failed: {document}")
    return Run(seconds, usage.ru_maxrss / 1024, document["data"])
