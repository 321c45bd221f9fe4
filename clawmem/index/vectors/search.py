"""The entry to the vector channel, which is imported only if there are vectors to search."""

from __future__ import annotations

from collections.abc import Collection

from clawmem.index.search.channels import ChannelHits, FactFilter
from clawmem.index.tables.schema import VECTORS_FILE
from clawmem.index.tables.store import Index
from clawmem.vault.vault import Vault

_OFF = "semantic.model is none"
_NOTHING = "nothing is embedded yet: run `clawmem heartbeat` where clawmem-vault[semantic] is installed"


def facts_by_meaning(vault: Vault, index: Index, question: str, wanted: FactFilter, day: str) -> ChannelHits:
    """Return facts with a meaning close to the question, or why there was no search.

    `day` (UTC) is the day whose budget pays for a remote model.
    """
    missing = _missing(vault)
    if missing:
        return missing
    from clawmem.index.vectors.channel import vector_channel

    return vector_channel(vault, index, question, wanted, day)


def events_by_meaning(vault: Vault, index: Index, question: str, day: str) -> ChannelHits:
    """Return events with a meaning close to the question, or why there was no search."""
    missing = _missing(vault)
    if missing:
        return missing
    from clawmem.index.vectors.channel import event_vector_channel

    return event_vector_channel(vault, index, question, day)


def notes_by_meaning(vault: Vault, index: Index, question: str, owners: Collection[str], day: str) -> ChannelHits:
    """Return note lines with a meaning close to the question, or why there was no search.

    Of agents' notes, only those of the `owners` count.
    """
    missing = _missing(vault)
    if missing:
        return missing
    from clawmem.index.vectors.channel import note_vector_channel

    return note_vector_channel(vault, index, question, owners, day)


def has_vectors(vault: Vault) -> bool:
    """Return whether there are vectors to search."""
    return _missing(vault) is None


def suggestion_notices(vault: Vault) -> tuple[str, ...]:
    """Return notices if the vault suggests a model that is not in effect here."""
    if not vault.settings.suggested:
        return ()
    from clawmem.model.settings.local import suggestion_message  # few vaults suggest settings

    return suggestion_message(vault.settings, "semantic")


def _missing(vault: Vault) -> ChannelHits | None:
    settings = vault.settings
    if any(key.startswith("semantic.") for key in settings.wrong):
        return ChannelHits({}, False, "this machine's settings for it cannot be read", unable=True)
    if settings.words("semantic.model") == "none":
        return ChannelHits({}, False, _OFF)
    present = vault.present or vault
    return None if (present.state / VECTORS_FILE).exists() else ChannelHits({}, False, _NOTHING, unable=True)
