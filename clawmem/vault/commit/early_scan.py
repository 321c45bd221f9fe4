"""An early scan: git looks for edits made by hand while Python still imports the command line.

The writer lock is not held yet. So the result is used only if no transaction was under way at the start and HEAD has
not moved when the lock is taken. A change by another writer moves HEAD.
"""

from __future__ import annotations

import subprocess

from clawmem.model.named_tuple import NamedTuple
from clawmem.vault.commit.pending import is_pending
from clawmem.vault.edits.scan import start_scan
from clawmem.vault.git.attributes import has_attributes
from clawmem.vault.git.refs import Head
from clawmem.vault.git.stale_locks import lock_files
from clawmem.vault.vault import Vault


class EarlyScan(NamedTuple):
    """A scan in progress, and HEAD at its start."""

    head: Head
    scan: subprocess.Popen[bytes]


def start_early(vault: Vault) -> EarlyScan | None:
    """Start a scan. Return None if a transaction or a git command is under way."""
    if is_pending(vault) or not has_attributes(vault) or lock_files(vault):
        # With a stale lock, the scan itself would be mistaken for the git process that holds it.
        return None
    head = vault.head()
    return EarlyScan(head, start_scan(vault)) if head.commit else None


def is_still_valid(vault: Vault, early: EarlyScan) -> bool:
    """Return whether the result is still valid under the writer lock. If not, stop the scan."""
    if vault.head() == early.head:
        return True
    early.scan.kill()
    early.scan.communicate()
    return False
