"""What agents wait for: the MCP server (tokens, first answer, warm calls, memory) and hooks as whole processes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from benchmarks.corpus import make_vault, questions
from benchmarks.measure import Timing, environment, in_turn, ratio, run
from benchmarks.report import Row
from clawmem.faces.mcp.tools import tool_list
from clawmem.index.refresh import open_index
from clawmem.index.tables.background import exact_counter, judge_events
from clawmem.index.tables.store import index_size
from clawmem.vault.vault import Vault

FACTS = 10_000
RUNS = 15
SIZES = (1_000, FACTS, 100_000)
WARM = 300
CALLS = 10_000
_TYPER = [sys.executable, str(Path(__file__).with_name("typer_program.py"))]
_CLAWMEM = str(Path(sys.executable).with_name("clawmem"))


class Server:
    """A running server and its client's side."""

    def __init__(self, vault: Vault, env: dict[str, str]) -> None:
        self.process = subprocess.Popen(
            [_CLAWMEM, "mcp"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=vault.root, env=env
        )

    def ask(self, method: str, **params: Any) -> Any:
        """Send one request and return its result."""
        stdin, stdout = self.process.stdin, self.process.stdout
        assert stdin and stdout
        stdin.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode() + b"\n")
        stdin.flush()
        return json.loads(stdout.readline())["result"]

    def recall(self, question: str) -> float:
        """Search, and return the seconds it took."""
        start = time.perf_counter()
        assert not self.ask("tools/call", name="recall", arguments={"question": question})["isError"]
        return time.perf_counter() - start

    def megabytes(self) -> float:
        """Its resident memory."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.partition("VmRSS:")[2].split()[0]) / 1024

    def cpu_seconds(self) -> float:
        """The processor time that it has used."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def close(self) -> None:
        """End its input and wait for it."""
        self.process.communicate()


def agent_rows(folder: Path) -> Iterator[Row]:
    """The tool list; hooks and the first answer at 10,000 facts; warm calls of a server and how they grow with the
    vault; its memory after many calls."""
    env = environment(folder / "home")
    shown = [{key: record[key] for key in ("name", "description", "inputSchema")} for record in tool_list()]
    yield Row("MCP: tokens of the tools, as a model sees them", exact_counter()(json.dumps(shown)), 2_500)
    vaults = {facts: _vault(folder, facts) for facts in SIZES}
    yield from _hook_rows(vaults[FACTS], env)
    yield _first_answer(vaults[FACTS], env)
    servers = {facts: Server(vault, env) for facts, vault in vaults.items()}
    yield from _warm_rows(servers, {facts: index_size(vault) for facts, vault in vaults.items()})
    yield _memory(servers[FACTS])
    for server in servers.values():
        server.close()


def _vault(folder: Path, facts: int) -> Vault:
    vault = make_vault(folder / f"agents-{facts}", facts, max(50, facts // 50), events=facts)
    index = open_index(vault)
    judge_events(index)
    index.close()
    return vault


def _warm_rows(servers: Mapping[int, Server], sizes: Mapping[int, int]) -> Iterator[Row]:
    """Each question is asked of every server in turn, so that a drifting machine changes no ratio."""
    asked = questions(WARM + 20)
    took: dict[int, list[float]] = {facts: [] for facts in servers}
    before = {}
    for number, question in enumerate(asked):
        if number == 20:
            before = {facts: server.cpu_seconds() for facts, server in servers.items()}
        for facts, server in servers.items():
            took[facts].append(server.recall(question))
    warm = {facts: Timing(tuple(seconds[20:])) for facts, seconds in took.items()}
    cpu = {facts: (server.cpu_seconds() - before[facts]) / WARM * 1000 for facts, server in servers.items()}
    for facts, timing in warm.items():
        goal = 10.0 if facts == FACTS else None
        name = f"MCP: warm recall over everything, {facts:,} facts and events each, p50 in ms"
        yield Row(name, timing.median * 1000, goal, f"p95 {timing.p95 * 1000:.1f} ms")
        # What a loaded machine does not change.
        yield Row(f"MCP: the same, CPU of the server for each call in ms, {facts:,} facts", cpu[facts], goal)
    for smaller, larger in pairwise(warm):
        name = f"MCP: warm recall at {larger:,} facts / at {smaller:,} (goal: growth of the index)"
        grown = sizes[larger] / sizes[smaller]
        detail = f"CPU {cpu[larger] / cpu[smaller]:.2f}; index {sizes[smaller]:,} to {sizes[larger]:,} bytes"
        yield Row(name, ratio(warm[larger], warm[smaller]), round(grown, 1), detail)


def _first_answer(vault: Vault, env: dict[str, str]) -> Row:
    request = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "server/discover"}).encode() + b"\n"

    def ours(_: int) -> float:
        return run([_CLAWMEM, "mcp"], env, vault.root, request)

    def typer(_: int) -> float:
        return run(_TYPER, env, vault.root)

    first, plain = in_turn(RUNS, ours, typer)
    detail = f"{first.median * 1000:.0f} ms / {plain.median * 1000:.0f} ms"
    return Row("MCP: process until its first answer / Typer", ratio(first, plain), 1.0, detail)


def _memory(server: Server) -> Row:
    asked = questions(500)
    before = server.megabytes()
    for number in range(CALLS):
        server.recall(asked[number % len(asked)])
    return Row(f"MCP: memory after {CALLS:,} calls / after {WARM + 20}", server.megabytes() / before, 1.2,
               f"{before:.0f} MB, then {server.megabytes():.0f} MB")  # fmt: skip


def _hook_rows(vault: Vault, env: dict[str, str]) -> Iterator[Row]:
    prompts = questions(RUNS + 2)
    for event in ("SessionStart", "UserPromptSubmit", "SessionEnd"):

        def hook(number: int, event: str = event) -> float:
            record = {"cwd": str(vault.root.parent), "prompt": prompts[number], "source": "startup",
                     "transcript_path": "/nowhere.jsonl"}  # fmt: skip
            command = [_CLAWMEM, "hook", event, "--harness", "claude-code", "--vault", str(vault.root)]
            return run(command, env, vault.root, json.dumps(record).encode(), must_print=event != "SessionEnd")

        def typer(_: int) -> float:
            return run(_TYPER, env, vault.root)

        took, plain = in_turn(RUNS, hook, typer)
        detail = f"{took.median * 1000:.0f} ms / {plain.median * 1000:.0f} ms, p95 {took.p95 * 1000:.0f} ms"
        yield Row(f"hook {event}, {FACTS:,} facts and events each / Typer", ratio(took, plain), 1.5, detail)
