"""Rescue refs: where the branch stood before each merge, kept for a while so that nothing can be lost by one."""

from __future__ import annotations

from datetime import datetime

from clawmem.vault.vault import Vault

FOLDER = "refs/clawmem/rescue"
KEPT = 20


def keep_rescue(vault: Vault, commit: str, now: datetime) -> str:
    """Remember a commit under the time and its name; the oldest beyond twenty are let go. Returns the ref."""
    ref = f"{FOLDER}/{now:%Y%m%dT%H%M%SZ}-{commit[:12]}"
    known = vault.git.run("for-each-ref", "--format=%(refname)", FOLDER).decode().split()
    stale = sorted({*known} - {ref})[: max(0, len({*known, ref}) - KEPT)]
    given = "".join(f"delete {one}\n" for one in stale)
    vault.git.run("update-ref", "--stdin", given=f"update {ref} {commit}\n{given}".encode())
    return ref
