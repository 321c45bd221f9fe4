"""The dashboard: CPU until the address is printed beyond a Typer program, and CPU and time of each page."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from statistics import median

from benchmarks.corpus import make_vault
from benchmarks.impact import cpu
from benchmarks.measure import environment
from benchmarks.report import Row
from tests.extensions.wiki.web.dashboards import Served

RUNS = 5
_CLAWMEM = [str(Path(sys.executable).with_name("clawmem"))]
_TYPER = [sys.executable, str(Path(__file__).with_name("typer_program.py"))]
_PAGES = {
    "overview": "", "approvals": "approvals", "changes": "timeline", "sessions": "sessions", "tasks": "tasks",
    "search": "search?q=what+does+the+boat+need", "graph": "graph", "data of the graph": "data/graph.js",
}  # fmt: skip
_TICK = os.sysconf("SC_CLK_TCK")


def dashboard_rows(folder: Path, facts: int = 10_000) -> Iterator[Row]:
    """The start, then each page: the first time, and again."""
    env = environment(folder / "home")
    root = make_vault(folder / "vault", facts).root
    subprocess.run([*_CLAWMEM, "recall", "boat"], cwd=root, env=env, check=True, capture_output=True)
    starts = [_started_and_stopped(root, env) for _ in range(RUNS)]
    plain = [cpu(_TYPER, env, root) for _ in range(RUNS)]
    beyond = (min(starts) - min(plain)) * 1000
    detail = f"{min(starts) * 1000:.0f} - {min(plain) * 1000:.0f} ms"
    yield Row("dashboard, CPU until the address beyond Typer, ms", beyond, 58, detail)
    process, here = _start(root, env)
    try:
        here.log_in()
        for name, page in _PAGES.items():
            first, again = _asked(process, here, page), [_asked(process, here, page) for _ in range(RUNS)]
            used, waited = (median(pair[place] for pair in again) * 1000 for place in (0, 1))
            raw = f"wall {waited:.0f} ms; the first time {first[0] * 1000:.0f} ms, wall {first[1] * 1000:.0f}"
            yield Row(f"dashboard, {name}, {facts:,} facts, CPU ms", used, None, raw)
    finally:
        process.terminate()
        process.wait(20)


def _start(root: Path, env: Mapping[str, str]) -> tuple[subprocess.Popen[bytes], Served]:
    process = subprocess.Popen([*_CLAWMEM, "dashboard"], cwd=root, env=dict(env), stdout=subprocess.PIPE)
    assert process.stdout is not None
    return process, Served(process.stdout.readline().decode().strip())


def _started_and_stopped(root: Path, env: Mapping[str, str]) -> float:
    """Return the CPU seconds of a server that has printed its address."""
    process, _ = _start(root, env)
    used = _used(process.pid)
    process.terminate()
    process.wait(20)
    return used


def _asked(process: subprocess.Popen[bytes], here: Served, page: str) -> tuple[float, float]:
    """Return the CPU seconds of the server with its children, and the seconds, for a page."""
    before, begun = _used(process.pid), time.perf_counter()
    reply = here.get(page)
    waited = time.perf_counter() - begun
    if reply.status != 200:
        raise RuntimeError(f"{page}: {reply.status} {reply.text}")
    return _used(process.pid) - before, waited


def _used(pid: int) -> float:
    """Return the CPU seconds of a process and of its children that have ended."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / _TICK
