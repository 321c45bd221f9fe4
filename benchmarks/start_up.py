"""Whole processes: `recall` against a Typer program; `remember` against that program and `git add`, `git commit`."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.corpus import make_vault, questions
from benchmarks.measure import Timing, environment, in_turn, ratio, run
from benchmarks.report import Row
from clawmem.index.refresh import open_index
from clawmem.index.tables.background import judge_events
from clawmem.index.vectors.embed import embed_missing
from clawmem.index.vectors.local_model import missing_packages
from clawmem.vault.vault import Vault

RUNS = 15
WITH_VECTORS = 10_000
_TYPER = [sys.executable, str(Path(__file__).with_name("typer_program.py"))]
_CLAWMEM = [str(Path(sys.executable).with_name("clawmem"))]


def recall_rows(folder: Path, sizes: tuple[int, ...] = (1_000, 10_000, 100_000)) -> Iterator[Row]:
    """`recall` over everything at each number of facts and as many events, and with vectors where the extra is
    installed."""
    env = environment(folder / "home")
    for facts in sizes:
        vault = make_vault(folder / f"recall-{facts}", facts, max(50, facts // 50), events=facts)
        _judge(vault)
        asked = questions(RUNS + 2)

        def recall(number: int, root: Path = vault.root, asked: list[str] = asked) -> float:
            return run([*_CLAWMEM, "recall", asked[number], "--json"], env, root)

        def typer(_: int, root: Path = vault.root) -> float:
            return run(_TYPER, env, root)

        recalled, plain = in_turn(RUNS, recall, typer)
        limit = 1.1 if facts <= 10_000 else 1.5
        yield Row(
            f"recall, {facts:,} facts and events each / Typer", ratio(recalled, plain), limit, _times(recalled, plain)
        )
        if facts == WITH_VECTORS and not missing_packages():
            embed_missing(vault, seconds=3600)
            recalled, plain = in_turn(RUNS, recall, typer)
            name = f"recall with vectors, {facts:,} facts / Typer"
            yield Row(name, ratio(recalled, plain), 1.6, _times(recalled, plain))


def _judge(vault: Vault) -> None:
    """What the heartbeat does in the background."""
    index = open_index(vault)
    judge_events(index)
    index.close()


def remember_rows(folder: Path, sizes: tuple[int, ...] = (2_000, 20_000)) -> Iterator[Row]:
    """`remember` at each number of files, and how much it grows between them."""
    env = environment(folder / "home")
    medians = []
    for files in sizes:
        entities = files // 2
        ours = make_vault(folder / f"remember-{files}", entities * 2, entities).root
        theirs = make_vault(folder / f"git-{files}", entities * 2, entities).root
        place = _some_entity(ours)
        for root in (ours, theirs):
            subprocess.run(["git", "status", "--short"], cwd=root, env=env, check=True, capture_output=True)

        def remember(number: int, root: Path = ours, place: str = place) -> float:
            text = f"The invented fact number {number} was kept by a process of its own"
            return run([*_CLAWMEM, "remember", text, "--entity", place], env, root)

        def plain(number: int, root: Path = theirs, place: str = place) -> float:
            path = root / "life" / place / "items.json"
            line = f'{{"id": "fact_{number % 2**32:08x}", "fact": "The invented fact number {number}"}}'
            path.write_text(path.read_text().replace("\n]\n", f",\n{line}\n]\n"))
            add = ["git", "add", str(path)]
            commit = ["git", "commit", "-q", "-m", f"remember: {number}"]
            return run(_TYPER, env, root) + run(add, env, root) + run(commit, env, root)

        kept, committed = in_turn(RUNS, remember, plain)
        medians.append((kept.median, ratio(kept, committed)))
        name = f"remember, {files:,} files / Typer + git add + commit"
        yield Row(name, ratio(kept, committed), 1.0, _times(kept, committed))
    growth = medians[1][1] / medians[0][1]
    detail = f"{medians[0][0] * 1000:.0f} ms to {medians[1][0] * 1000:.0f} ms"
    yield Row("remember, that ratio at 20,000 files / at 2,000", growth, 1.5, detail)
    yield Row("remember, its own time at 20,000 files / at 2,000", medians[1][0] / medians[0][0], 1.5, detail)


def _some_entity(root: Path) -> str:
    pages = sorted((root / "life" / "projects").glob("*/items.json"))
    return pages[len(pages) // 2].parent.relative_to(root / "life").as_posix()


def _times(timing: Timing, other: Timing) -> str:
    return f"{timing.median * 1000:.0f} ms, p95 {timing.p95 * 1000:.0f} / {other.median * 1000:.0f} ms"
