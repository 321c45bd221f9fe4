"""Reindex: rebuild the derived index from HEAD."""

from __future__ import annotations

import time
from math import inf
from typing import NamedTuple

from clawmem.errors import ModelFailed, Refused, StorageFailed
from clawmem.index.refresh.refresh import rebuild
from clawmem.index.search.lookup import unreadable_notices
from clawmem.index.tables.contents import row_counts
from clawmem.index.tables.store import index_size
from clawmem.index.vectors.embed import EmbeddingRun, embed_missing
from clawmem.index.vectors.local_model import INSTALL, missing_packages
from clawmem.index.vectors.store import LOCAL, NONE
from clawmem.model.progress import OnProgress
from clawmem.vault.past import delete_past_state
from clawmem.vault.vault import Vault


class ReindexResult(NamedTuple):
    """The size of the new index: numbers of records, search engine, build time in seconds, bytes on disk."""

    facts: int
    events: int
    entities: int
    engine: str
    seconds: float
    size: int
    notices: tuple[str, ...] = ()


def reindex(vault: Vault, report: OnProgress | None = None) -> ReindexResult:
    """Rebuild the index, and delete the indexes of past commits. `report` gets how far it is. Raise StorageFailed if it
    cannot be stored."""
    started = time.perf_counter()
    delete_past_state(vault)
    index = rebuild(vault, report)
    try:
        if not index.kept:
            raise StorageFailed(f"The index cannot be stored: {index.notices[-1]}.", "Searches still work, slowly.")
        seconds = time.perf_counter() - started
        notices = (*index.notices, *unreadable_notices(index, facts=False))
        return ReindexResult(*row_counts(index), index.engine.name, seconds, index_size(vault), notices)
    finally:
        index.close()


def rebuild_vectors(vault: Vault, report: OnProgress | None = None) -> EmbeddingRun:
    """Compute the vectors of all facts and events again, without a time limit. `report` gets how far it is. Raise like
    check_embedding, and Locked."""
    check_embedding(vault)
    return embed_missing(vault, inf, anew=True, report=report)


def check_embedding(vault: Vault) -> None:
    """Raise Refused if vectors are disabled, ModelFailed if the local model is not installed."""
    if vault.settings.words("semantic.model") == NONE:
        raise Refused(
            "Vectors are disabled: semantic.model is none.",
            f"Enable them with `clawmem config set semantic.model {LOCAL}`.",
        )
    lacking = missing_packages()
    if lacking:
        raise ModelFailed(
            f"The local embedding model is not installed: {', '.join(lacking)} cannot be imported.",
            f"Install it with `{INSTALL}`.",
        )
