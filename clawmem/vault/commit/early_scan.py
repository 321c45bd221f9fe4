"""An early scan: git looks for edits made by hand while Python still imports the command line.

The writer lock is not held yet, so the scan counts only where nothing was under way when it started and HEAD has
not moved when the lock is taken; a change by another writer moves HEAD.
"""

from __future__ import annotations

import subprocess
from typing import NamedTuple

from clawmem.vault.commit.pending import is_pending
from clawmem.vault.edits.scan import start_scan
from clawmem.vault.git.attributes import has_attributes
from clawmem.vault.git.refs import Head
from clawmem.vault.git.stale_locks import lock_files
from clawmem.vault.vault import Vault


class EarlyScan(NamedTuple):
    """A scan under way, and where HEAD was when it started."""

    head: Head
    scan: subprocess.Popen[bytes]


def start_early(vault: Vault) -> EarlyScan | None:
    """Start looking, or None where the vault is not at rest."""
    if is_pending(vault) or not has_attributes(vault) or lock_files(vault):
        # Beside a lock that was left behind, the scan itself would pass for the git that holds it.
        return None
    head = vault.head()
    return EarlyScan(head, start_scan(vault)) if head.commit else None


def is_still_valid(vault: Vault, early: EarlyScan) -> bool:
    """Whether the scan's answer holds now that the writer lock is held; stops it where it does not."""
    if vault.head() == early.head:
        return True
    early.scan.kill()
    early.scan.communicate()
    return False
