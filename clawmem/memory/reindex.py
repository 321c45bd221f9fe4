"""Reindex: the derived index built anew from HEAD, and what is in it."""

from __future__ import annotations

import time
from typing import NamedTuple

from clawmem.errors import StorageFailed
from clawmem.index.lookup import broken_files
from clawmem.index.refresh import rebuild
from clawmem.index.store import Index, index_size
from clawmem.vault.past import discard_past
from clawmem.vault.vault import Vault


class Reindexed(NamedTuple):
    """How much the new index holds, the engine behind its keyword search, the seconds it took and its bytes on disk."""

    facts: int
    events: int
    entities: int
    engine: str
    seconds: float
    size: int
    notices: tuple[str, ...] = ()


def reindex(vault: Vault) -> Reindexed:
    """Build the index anew and drop those of past commits; raises StorageFailed where it cannot be kept."""
    started = time.perf_counter()
    discard_past(vault)
    index = rebuild(vault)
    try:
        if not index.kept:
            raise StorageFailed(f"There is no index to keep: {index.notices[-1]}.", "Searches still work, slowly.")
        seconds = time.perf_counter() - started
        notices = (*index.notices, *(problem for _, problem in broken_files(index)))
        return Reindexed(*_counts(index), index.engine.name, seconds, index_size(vault), notices)
    finally:
        index.close()


def _counts(index: Index) -> tuple[int, int, int]:
    queries = (
        "SELECT count(*) FROM fact",
        "SELECT count(DISTINCT id) FROM event",
        "SELECT count(*) FROM (SELECT name FROM entity UNION SELECT entity FROM fact)",
    )
    facts, events, entities = (index.database.execute(query).fetchone()[0] for query in queries)
    return facts, events, entities
