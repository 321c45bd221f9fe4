"""Groups of facts that a model declined to condense, so that it is not asked and paid again for the same group."""

from __future__ import annotations

from clawmem.errors import StorageFailed
from clawmem.vault.disk import append_line
from clawmem.vault.vault import Vault

FILE = "condense-declined"


def declined_groups(vault: Vault) -> frozenset[str]:
    """Return the keys of the declined groups. A lost file only means that the model is asked once more."""
    return frozenset((vault.disk.read(vault.state / FILE) or b"").decode(errors="replace").split())


def record_declined(vault: Vault, key: str) -> None:
    """Remember a declined group by its key. Raise StorageFailed if the disk does not take it."""
    try:
        vault.prepare_state()
        append_line(vault.state / FILE, f"{key}\n".encode())
    except OSError as problem:
        raise StorageFailed(f"The answer of the model was not stored: {problem.strerror}.", "Check the disk.") from None
