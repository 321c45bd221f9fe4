"""Machines that share a vault: writes and syncs at the same time, against plain `git pull --rebase && git push`."""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

from benchmarks.measure import environment
from benchmarks.report import Row

_CLAWMEM = [str(Path(sys.executable).with_name("clawmem"))]
_MOST_TRIES = 200
_Step = Callable[[Mapping[str, str], Path, int, int], int]


def sync_rows(folder: Path, clones: int = 4, writes: int = 50) -> Iterator[Row]:
    """How long `clones` at a time take for `writes` each with a sync after every one, over what git alone takes for the
    same facts, each in a file of its own so that it never meets a conflict."""
    env = environment(folder / "home")
    ours, tries = _race(folder / "clawmem", env, clones, writes, _remember)
    plain, plain_tries = _race(folder / "git", env, clones, writes, _commit)
    detail = (
        f"{ours:.1f} s against {plain:.1f} s for {clones} clones of {writes} writes;"
        f" {statistics.mean(tries):.2f} attempts a sync, git {statistics.mean(plain_tries):.2f}"
    )
    # Nobody asked for a figure here: what it costs beside plain git is told, and no more.
    name = f"{clones} clones, {writes} writes and syncs each, over git's pull --rebase and push"
    yield Row(name, ours / plain, None, detail)


def _race(folder: Path, env: Mapping[str, str], clones: int, writes: int, step: _Step) -> tuple[float, list[int]]:
    roots = _clones(folder, env, clones)
    start = time.perf_counter()
    with ThreadPoolExecutor(clones) as pool:
        tries = list(pool.map(partial(_work, env, writes, step), roots, range(clones)))
    seconds = time.perf_counter() - start
    _check(roots, env, clones * writes)
    return seconds, [number for each in tries for number in each]


def _clones(folder: Path, env: Mapping[str, str], count: int) -> list[Path]:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    hub, first = folder / "hub.git", folder / "clone-0"
    _run(folder, env, "git", "init", "-q", "--bare", "-b", "main", str(hub))
    _run(folder, env, *_CLAWMEM, "init", str(first))
    _run(first, env, "git", "remote", "add", "origin", str(hub))
    _run(first, env, *_CLAWMEM, "sync")
    for number in range(1, count):
        _run(folder, env, "git", "clone", "-q", str(hub), f"clone-{number}")
    return [folder / f"clone-{number}" for number in range(count)]


def _work(env: Mapping[str, str], writes: int, step: _Step, root: Path, number: int) -> list[int]:
    return [step(env, root, number, turn) for turn in range(writes)]


def _remember(env: Mapping[str, str], root: Path, number: int, turn: int) -> int:
    text = f"Clone {number} kept fact {turn}."
    _run(root, env, *_CLAWMEM, "remember", text, "--entity", f"projects/writer-{number}")
    return int(json.loads(_run(root, env, *_CLAWMEM, "sync", "--json"))["data"]["attempts"])


def _commit(env: Mapping[str, str], root: Path, number: int, turn: int) -> int:
    """The same fact with git alone, pulled and pushed until it is taken."""
    path = root / "life" / "projects" / f"writer-{number}-{turn}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"Clone {number} kept fact {turn}.\n")
    _run(root, env, "git", "add", str(path.relative_to(root)))
    _run(root, env, "git", "commit", "-qm", f"fact {number} {turn}")
    for attempt in range(1, _MOST_TRIES):
        _run(root, env, "git", "pull", "-q", "--rebase", "origin", "main")
        push = ["git", "push", "-q", "origin", "HEAD:main"]
        if subprocess.run(push, cwd=root, env=dict(env), capture_output=True, check=False).returncode == 0:
            return attempt
    raise RuntimeError("git never pushed")


def _check(roots: list[Path], env: Mapping[str, str], wanted: int) -> None:
    """Everybody has everything in the end."""
    for root in roots:
        _run(root, env, "git", "pull", "-q", "--no-rebase", "origin", "main")
        data = _run(root, env, "git", "grep", "-ho", "Clone [0-9]* kept fact [0-9]*\\.", "HEAD", "--", "life")
        assert len(set(data.decode().split("\n")) - {""}) == wanted, root


def _run(root: Path, env: Mapping[str, str], *command: str) -> bytes:
    return subprocess.run(command, cwd=root, env=dict(env), capture_output=True, check=True).stdout
