"""Reindex: the derived index built anew from HEAD, and what is in it."""

from __future__ import annotations

import time
from collections.abc import Callable
from math import inf
from typing import NamedTuple

from clawmem.errors import ModelFailed, Refused, StorageFailed
from clawmem.index.refresh.refresh import rebuild
from clawmem.index.search.unreadable import unreadable_notices
from clawmem.index.tables.contents import row_counts
from clawmem.index.tables.store import index_size
from clawmem.index.vectors.embed import EmbeddingRun, embed_missing
from clawmem.index.vectors.local_model import INSTALL, missing_packages
from clawmem.index.vectors.store import LOCAL, NONE
from clawmem.vault.past import delete_past_state
from clawmem.vault.vault import Vault


class ReindexResult(NamedTuple):
    """How much the new index holds, the engine behind its keyword search, the seconds it took and its bytes on disk."""

    facts: int
    events: int
    entities: int
    engine: str
    seconds: float
    size: int
    notices: tuple[str, ...] = ()


def reindex(vault: Vault) -> ReindexResult:
    """Build the index anew and drop those of past commits; raises StorageFailed where it cannot be kept."""
    started = time.perf_counter()
    delete_past_state(vault)
    index = rebuild(vault)
    try:
        if not index.kept:
            raise StorageFailed(f"There is no index to keep: {index.notices[-1]}.", "Searches still work, slowly.")
        seconds = time.perf_counter() - started
        notices = (*index.notices, *unreadable_notices(index, facts=False))
        return ReindexResult(*row_counts(index), index.engine.name, seconds, index_size(vault), notices)
    finally:
        index.close()


def embed_anew(vault: Vault, day: str, progress: Callable[[int, int], None] | None = None) -> EmbeddingRun:
    """Make the vector of every fact and event again, however long it takes; `day` (UTC) is the one whose money is
    spent, `progress` is told how many of how many are done. Raises as `check_embedding` does, and Locked."""
    check_embedding(vault)
    return embed_missing(vault, inf, day, anew=True, progress=progress)


def check_embedding(vault: Vault) -> None:
    """Raise Refused where the settings want no vectors, ModelFailed where the local model is not installed."""
    name = vault.settings.words("semantic.model")
    if name == NONE:
        raise Refused(
            "The settings want no vectors: semantic.model is none.",
            f"Want them with `clawmem config set semantic.model {LOCAL}`, or name a model as litellm does.",
        )
    lacking = missing_packages() if name == LOCAL else []
    if lacking:
        raise ModelFailed(
            f"The local embedding model is not installed: {', '.join(lacking)} cannot be imported.",
            f"Install it with `{INSTALL}`.",
        )
