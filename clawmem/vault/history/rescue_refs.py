"""Rescue refs: the branch before each merge, kept for a while so that a merge cannot lose anything."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

from clawmem.vault.git.refs import refs_below
from clawmem.vault.vault import Vault

FOLDER = "refs/clawmem/rescue"
MAX_KEPT = 20


class RescueRef(NamedTuple):
    """A rescue ref, and the lines with which `git update-ref --stdin` creates it."""

    ref: str
    lines: str


def rescue_ref_update(vault: Vault, commit: str, now: datetime) -> RescueRef:
    """Return how to create a rescue ref for a commit. The oldest refs beyond twenty are deleted."""
    ref = f"{FOLDER}/{now:%Y%m%dT%H%M%SZ}-{commit[:12]}"
    known = refs_below(vault.git_dir, FOLDER)
    stale = sorted({*known} - {ref})[: max(0, len({*known, ref}) - MAX_KEPT)]
    return RescueRef(ref, f"update {ref} {commit}\n" + "".join(f"delete {text}\n" for text in stale))


def create_rescue_ref(vault: Vault, commit: str, now: datetime) -> str:
    """Create a rescue ref for a commit and return its name."""
    rescue = rescue_ref_update(vault, commit, now)
    vault.git.run("update-ref", "--stdin", stdin=rescue.lines.encode())
    return rescue.ref
