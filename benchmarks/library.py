"""Recall inside one process, as a library gives it: no start-up, an index that is open."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.corpus import NOW, make_vault, questions
from benchmarks.report import Row
from clawmem.index.channels import Filter
from clawmem.index.refresh import open_index
from clawmem.model.caller import Caller
from clawmem.serving.recall import recall_in

ASKED = 200
FACTS = 10_000
GOAL_MS = 5.0


def library_rows(folder: Path) -> Iterator[Row]:
    """The median time of a question at 10,000 facts, in milliseconds."""
    vault = make_vault(folder / "library", FACTS, FACTS // 20)
    caller = Caller(NOW, bytes)
    index = open_index(vault)
    times = []
    for question in questions(ASKED + 5):
        start = time.perf_counter()
        recall_in(vault, index, question, caller, Filter(), 10)
        times.append((time.perf_counter() - start) * 1000)
    index.close()
    counted = sorted(times[5:])
    detail = f"p95 {counted[int(0.95 * len(counted))]:.1f} ms"
    yield Row(f"recall in one process, {FACTS:,} facts, p50 in ms", statistics.median(counted), GOAL_MS, detail)
