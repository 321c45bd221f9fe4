"""The way to the vector channel, which imports it only where there are vectors to search."""

from __future__ import annotations

from collections.abc import Collection

from clawmem.index.search.channels import ChannelHits, FactFilter
from clawmem.index.tables.schema import VECTORS_FILE
from clawmem.index.tables.store import Index
from clawmem.vault.vault import Vault

_OFF = "semantic.model is none"
_NOTHING = "nothing was embedded yet: `clawmem heartbeat` does it where clawmem-vault[semantic] is installed"


def facts_by_meaning(vault: Vault, index: Index, question: str, wanted: FactFilter, day: str) -> ChannelHits:
    """Facts that mean what the question means, or why they were not looked for.

    `day` (UTC) is the one whose money is spent where a model has to be called.
    """
    missing = _missing(vault)
    if missing:
        return missing
    from clawmem.index.vectors.channel import vector_channel

    return vector_channel(vault, index, question, wanted, day)


def events_by_meaning(vault: Vault, index: Index, question: str, day: str) -> ChannelHits:
    """Events that mean what the question means, or why they were not looked for."""
    missing = _missing(vault)
    if missing:
        return missing
    from clawmem.index.vectors.channel import event_vectors

    return event_vectors(vault, index, question, day)


def notes_by_meaning(vault: Vault, index: Index, question: str, owners: Collection[str], day: str) -> ChannelHits:
    """Lines of notes that mean what the question means, of agents' notes only those of the `owners`, or why they were
    not looked for."""
    missing = _missing(vault)
    if missing:
        return missing
    from clawmem.index.vectors.channel import note_vectors

    return note_vectors(vault, index, question, owners, day)


def suggested_meaning(vault: Vault) -> tuple[str, ...]:
    """What a person should hear where the vault suggests another model for this, which is not in force here."""
    if not vault.settings.suggested:
        return ()
    from clawmem.model.settings.local import suggestion_message  # few vaults suggest anything

    return suggestion_message(vault.settings, "semantic")


def _missing(vault: Vault) -> ChannelHits | None:
    settings = vault.settings
    if any(key.startswith("semantic.") for key in settings.wrong):
        return ChannelHits({}, False, "this machine's settings of it cannot be read", unable=True)
    if settings.words("semantic.model") == "none":
        return ChannelHits({}, False, _OFF)
    present = vault.present or vault
    return None if (present.state / VECTORS_FILE).exists() else ChannelHits({}, False, _NOTHING, unable=True)
