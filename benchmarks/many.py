"""Many at once: facts a second through `remember --jsonl`, and the repository after thousands of commits."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.corpus import entity_names, invented_facts, make_vault
from benchmarks.measure import environment, folder_size
from benchmarks.report import Row

_CLAWMEM = [str(Path(sys.executable).with_name("clawmem"))]
_ROUNDS = 3


def batch_rows(folder: Path, facts: int = 10_000, added: int = 2_000) -> Iterator[Row]:
    """Facts a second of `remember --jsonl -`, one commit each, in a vault of `facts` facts."""
    env = environment(folder / "home")
    root = make_vault(folder / "batch", facts).root
    names = entity_names(500, 1)
    rates = []
    for number in range(_ROUNDS):
        lines = [
            json.dumps({"fact": fact.fact, "entity": entity})
            for entity, fact in invented_facts(added, names, seed=100 + number)
        ]
        before = _commits(root)
        start = time.perf_counter()
        command = [*_CLAWMEM, "remember", "--jsonl", "-", "--json"]
        data = "\n".join(lines).encode()
        process = subprocess.run(command, cwd=root, env=env, input=data, capture_output=True, check=True)
        seconds = time.perf_counter() - start
        kept = json.loads(process.stdout)["data"]["outcome"].count("added")
        assert _commits(root) - before >= kept
        rates.append(kept / seconds)
    yield Row(
        f"remember --jsonl, facts a second at {facts:,} facts",
        sorted(rates)[_ROUNDS // 2],
        500,
        ", ".join(f"{rate:,.0f}" for rate in rates),
        at_least=True,
    )


def repository_rows(folder: Path, commits: int = 10_000) -> Iterator[Row]:
    """The size of `.git` over the content after so many single-fact commits and the tool's own upkeep."""
    env = environment(folder / "home")
    root = make_vault(folder / "repository", 0).root
    names = entity_names(500, 1)
    lines = [
        json.dumps({"fact": f"{fact.fact} ({number})", "entity": entity, "tags": list(fact.tags)})
        for number, (entity, fact) in enumerate(invented_facts(commits, names, seed=7))
    ]
    command = [*_CLAWMEM, "remember", "--jsonl", "-", "--json"]
    subprocess.run(command, cwd=root, env=env, input="\n".join(lines).encode(), capture_output=True, check=True)
    peak = _peak_of([*_CLAWMEM, "heartbeat"], root, env)
    content = folder_size(root) - folder_size(root / ".git")
    git = folder_size(root / ".git")
    derived = folder_size(root / ".git" / "clawmem")
    sizes = f"{git / 1e6:.1f} MB, {derived / 1e6:.1f} of it the index, over {content / 1e6:.1f} MB"
    detail = f"{sizes}; {_commits(root):,} commits"
    yield Row(f".git / content after {commits:,} single-fact commits", git / content, 4, detail)
    yield Row("the same without the index", (git - derived) / content, 4, detail)
    yield Row("peak memory of that heartbeat and its upkeep, MB", peak, 200, "the largest process")


def _peak_of(command: list[str], root: Path, env: dict[str, str]) -> float:
    program = (
        "import resource, subprocess, sys; subprocess.run(sys.argv[1:], check=True);"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
    )
    process = subprocess.run(
        [sys.executable, "-c", program, *command], cwd=root, env=env, capture_output=True, check=True
    )
    return int(process.stdout.split()[-1]) / 1024


def _commits(root: Path) -> int:
    return int(subprocess.run(["git", "rev-list", "--count", "HEAD"], cwd=root, capture_output=True, check=True).stdout)
