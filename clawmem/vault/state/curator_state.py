"""The last week for which the curator ran on this machine: `.git/clawmem/curator.json`."""

from __future__ import annotations

import json

from clawmem.vault.vault import Vault

STATE = "curator.json"


def last_curated_week(vault: Vault) -> str | None:
    """Return the name of the week, or None if the curator has not run or the file is invalid."""
    try:
        record = json.loads(vault.disk.read(vault.state / STATE) or b"null")
        return str(record["week"])
    except (ValueError, TypeError, KeyError):
        return None


def write_curated_week(vault: Vault, week: str) -> None:
    """Store the name of the week."""
    vault.prepare_state()
    vault.disk.replace(vault.state / STATE, json.dumps({"week": week}).encode(), vault.state)
