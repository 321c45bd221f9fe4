"""Semantic search: embedding vectors, the model that computes them, their store, and the entry to the vector channel,
which is imported only if there are vectors to search.
"""

from __future__ import annotations

from collections.abc import Collection

from clawmem.index.search.channels import ChannelHits, FactFilter
from clawmem.index.tables.schema import VECTORS_FILE
from clawmem.index.tables.store import Index
from clawmem.vault.vault import Vault

_OFF = "semantic.model is none"
_NOTHING = "nothing is embedded yet: run `clawmem heartbeat` where clawmem-vault[semantic] is installed"


def facts_by_meaning(vault: Vault, index: Index, question: str, wanted: FactFilter) -> ChannelHits:
    """Return facts with a meaning close to the question, or why there was no search."""
    if missing := _missing(vault):
        return missing
    from clawmem.index.vectors.store import vector_channel

    return vector_channel(vault, index, question, wanted)


def events_by_meaning(vault: Vault, index: Index, question: str) -> ChannelHits:
    """Return events with a meaning close to the question, or why there was no search."""
    if missing := _missing(vault):
        return missing
    from clawmem.index.vectors.store import event_vector_channel

    return event_vector_channel(vault, index, question)


def notes_by_meaning(vault: Vault, index: Index, question: str, owners: Collection[str]) -> ChannelHits:
    """Return close note lines, or why there was no search. Of agents' notes, only the `owners` count."""
    if missing := _missing(vault):
        return missing
    from clawmem.index.vectors.store import note_vector_channel

    return note_vector_channel(vault, index, question, owners)


def has_vectors(vault: Vault) -> bool:
    """Return whether there are vectors to search."""
    return _missing(vault) is None


def _missing(vault: Vault) -> ChannelHits | None:
    if "semantic.model" in vault.settings.wrong:
        return ChannelHits({}, False, "this machine's settings for it cannot be read", unable=True)
    if vault.settings.words("semantic.model") == "none":
        return ChannelHits({}, False, _OFF)
    present = vault.present or vault
    if not (present.state / VECTORS_FILE).exists():
        return ChannelHits({}, False, _NOTHING, unable=True)
    from clawmem.index.vectors.local_model import INSTALL, missing_packages

    if missing_packages():
        return ChannelHits({}, False, f"the local model is not installed: {INSTALL}", unable=True)
    return None
