"""The way to the vector channel, which imports it only where there are vectors to search."""

from __future__ import annotations

from clawmem.index.channels import Filter, Hits
from clawmem.index.schema import VECTORS_FILE
from clawmem.index.store import Index
from clawmem.vault.vault import Vault

_OFF = "semantic.model is none"
_NOTHING = "nothing was embedded yet: `clawmem heartbeat` does it where clawmem-vault[semantic] is installed"


def facts_by_meaning(vault: Vault, index: Index, question: str, wanted: Filter, day: str) -> Hits:
    """Facts that mean what the question means, or why they were not looked for.

    `day` (UTC) is the one whose money is spent where a model has to be called.
    """
    missing = _missing(vault)
    if missing:
        return missing
    from clawmem.index.vector_channel import vector_channel

    return vector_channel(vault, index, question, wanted, day)


def events_by_meaning(vault: Vault, index: Index, question: str, day: str) -> Hits:
    """Events that mean what the question means, or why they were not looked for."""
    missing = _missing(vault)
    if missing:
        return missing
    from clawmem.index.vector_channel import event_vectors

    return event_vectors(vault, index, question, day)


def _missing(vault: Vault) -> Hits | None:
    if vault.settings.words("semantic.model") == "none":
        return Hits({}, False, _OFF)
    present = vault.present or vault
    return None if (present.state / VECTORS_FILE).exists() else Hits({}, False, _NOTHING, unable=True)
