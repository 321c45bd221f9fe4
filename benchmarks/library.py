"""Inside one process, as a library gives it: recall on an index that is open; the index itself, made and renewed."""

from __future__ import annotations

import os
import statistics
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.corpus import NOW, make_vault, questions
from benchmarks.measure import environment, folder_size, peak_of_children, run
from benchmarks.report import Row
from clawmem.index.refresh import open_index
from clawmem.index.search.channels import FactFilter
from clawmem.index.tables.store import index_path, index_size
from clawmem.memory.facts.remember import remember
from clawmem.model.facts.codec import parse_items
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.records.caller import Caller
from clawmem.serving.recall.recall import RecallQuery, recall_in
from clawmem.vault.vault import Vault

ASKED = 200
FACTS = 10_000
GOAL_MS = 5.0
_CLAWMEM = [str(Path(sys.executable).with_name("clawmem"))]


def library_rows(folder: Path) -> Iterator[Row]:
    """The median time of a question at 10,000 facts, in milliseconds."""
    vault = make_vault(folder / "library", FACTS, FACTS // 20)
    caller = Caller(NOW, bytes)
    index = open_index(vault)
    times = []
    for question in questions(ASKED + 5):
        start = time.perf_counter()
        recall_in(vault, index, RecallQuery(question, caller, FactFilter(), 10))
        times.append((time.perf_counter() - start) * 1000)
    index.close()
    counted = sorted(times[5:])
    detail = f"p95 {counted[int(0.95 * len(counted))]:.1f} ms"
    yield Row(f"recall in one process, {FACTS:,} facts, p50 in ms", statistics.median(counted), GOAL_MS, detail)


def index_rows(folder: Path) -> Iterator[Row]:
    """Making the index of 100,000 facts and bringing it up to date after one commit; its size and memory."""
    vault = make_vault(folder / "index", 100_000, 2_000)
    built = run([*_CLAWMEM, "reindex"], environment(folder / "home"), vault.root)
    plain = _reading(vault)
    detail = f"{built:.1f} s / {plain:.1f} s, peak {peak_of_children():.0f} MB"
    yield Row("`reindex` of 100,000 facts / reading and parsing them", built / plain, None, detail)
    content = folder_size(vault.root) - folder_size(vault.git_dir)
    yield Row("index of 100,000 facts, bytes / content", index_size(vault) / content, None, f"{content / 1e6:.0f} MB")
    caller = Caller(NOW, os.urandom)
    times = []
    for number in range(5):
        before = index_path(vault).resolve().read_bytes()
        remember(vault, [draft_from_record({"fact": f"An invented addition number {number}"}, NOW)], caller)
        # As it was before the commit: what another machine's pull leaves behind.
        index_path(vault).resolve().write_bytes(before)
        start = time.perf_counter()
        open_index(vault).close()
        times.append(time.perf_counter() - start)
    took = statistics.median(times)
    yield Row("index after one commit / made anew", took / built, None, f"{took * 1000:.0f} ms")


def _reading(vault: Vault) -> float:
    start = time.perf_counter()
    for path in vault.root.glob("life/**/items.json"):
        parse_items(path.read_bytes(), path.name)
    return time.perf_counter() - start
