"""Exact token counts in the index: writers note a bound, the heartbeat replaces it."""

from __future__ import annotations

import json
from collections.abc import Callable

from clawmem.index.store import Index
from clawmem.model.codec import fact_from_record
from clawmem.model.tokens import context_line

_AT_ONCE = 5_000


def count_exactly(index: Index, count: Callable[[str], int]) -> int:
    """Count the line of context of every fact that has only a bound so far; returns how many were counted."""
    counted = 0
    while True:
        # In portions, so that other writers get their turn.
        with index.writing():
            rows = index.database.execute("SELECT n, line FROM fact WHERE exact = 0 LIMIT ?", (_AT_ONCE,)).fetchall()
            found = [(count(context_line(fact_from_record(json.loads(line)))), n) for n, line in rows]
            index.database.executemany("UPDATE fact SET tokens = ?, exact = 1 WHERE n = ?", found)
        counted += len(rows)
        if len(rows) < _AT_ONCE:
            return counted
