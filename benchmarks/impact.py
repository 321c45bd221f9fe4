"""`why --impact` and `retract` over a graph of premises with circles, in CPU time, against a Typer program."""

from __future__ import annotations

import random
import resource
import statistics
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from benchmarks.measure import environment
from benchmarks.report import Row
from clawmem.model.facts.codec import render_items
from clawmem.model.facts.fact import Fact, FactLink
from clawmem.vault.exchange.create import create_vault
from tests.conftest import NOW

RUNS = 5
_TYPER = [sys.executable, str(Path(__file__).with_name("typer_program.py"))]
_CLAWMEM = [str(Path(sys.executable).with_name("clawmem"))]


def impact_rows(folder: Path, facts: int = 10_000, dependents: int = 5_000) -> Iterator[Row]:
    """`why --impact` of the fact on which all others rest, and `retract` of a premise with many direct dependents."""
    env = environment(folder / "home")
    graph = make_graph(folder / "graph", env, facts)
    shown, plain = [], []
    for number in range(-1, RUNS):
        pair = cpu([*_CLAWMEM, "impact", _id(0), "--json"], env, graph), cpu(_TYPER, env, graph)
        if number >= 0:
            shown.append(pair[0])
            plain.append(pair[1])
    seconds, base = statistics.median(shown), statistics.median(plain)
    yield Row(f"impact, {facts:,} facts with circles, CPU seconds", seconds, 1.0, f"Typer {base:.3f} s CPU")
    yield Row(f"impact, {facts:,} facts with circles / Typer, CPU", seconds / base, None, "")
    wide = make_fan(folder / "fan", env, dependents)
    took = cpu([*_CLAWMEM, "retract", _id(0)], env, wide)
    yield Row(
        f"retract, {dependents:,} dependents marked in its commit, CPU seconds", took, None, f"{took / base:.1f} x"
    )


def make_graph(root: Path, env: Mapping[str, str], count: int, seed: int = 1) -> Path:
    """A vault with facts that rest on one to three others each; one in twenty closes a circle."""
    chance = random.Random(seed)
    facts = []
    for number in range(count):
        targets = (
            {chance.randrange(max(0, number - 400), number) for _ in range(chance.randint(1, 3))} if number else set()
        )
        if number % 20 == 19:
            targets.add(min(count - 1, number + chance.randrange(1, 400)))
        facts.append(_fact(number, sorted(targets - {number})))
    return _vault(root, env, facts)


def make_fan(root: Path, env: Mapping[str, str], count: int) -> Path:
    """A vault with a fact on which all others rest."""
    return _vault(root, env, [_fact(number, [0] if number else []) for number in range(count + 1)])


def cpu(command: Sequence[str], env: Mapping[str, str], folder: Path, codes: Sequence[int] = (0,)) -> float:
    """Run one process and return the CPU seconds of it and its children; raises where it ends with another code."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = subprocess.run(command, env=dict(env), cwd=folder, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if process.returncode not in codes:
        raise subprocess.CalledProcessError(process.returncode, command, process.stdout, process.stderr)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _id(number: int) -> str:
    return f"fact_{number:08x}"


def _fact(number: int, targets: Sequence[int]) -> Fact:
    links = tuple(FactLink("depends_on", _id(target), "it follows", "2026-01-01T00:00:00Z") for target in targets)
    statement = f"Component {number} of the system works as its parts do."
    return Fact(_id(number), statement, "fact", "2026-01-01T00:00:00Z", "user", trust="user", links=links)


def _vault(root: Path, env: Mapping[str, str], facts: Sequence[Fact]) -> Path:
    vault = create_vault(root, dict(env), NOW)
    for number in range(100):
        shelf = facts[number::100]
        place = root / "life" / "projects" / f"part-{number}"
        place.mkdir(parents=True)
        (place / "items.json").write_bytes(render_items(shelf))
    subprocess.run(["git", "add", "-A"], cwd=root, env=dict(env), check=True)
    subprocess.run(["git", "commit", "-qm", "facts"], cwd=root, env=dict(env), check=True)
    subprocess.run([*_CLAWMEM, "status"], cwd=root, env=dict(env), check=True, capture_output=True)
    return vault.root
