"""When each adapter last ran to its end on this machine: `.git/clawmem/adapters.json`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from clawmem.vault.vault import Vault

_FILE = "adapters.json"


def last_run(vault: Vault, workflow: str, adapter: str) -> str | None:
    """Return when an adapter last ran to its end (ISO 8601 UTC), or None."""
    when = _read(vault).get(_key(workflow, adapter))
    return when if isinstance(when, str) else None


def keep_run(vault: Vault, workflow: str, adapter: str, when: str) -> None:
    """Remember that an adapter ran to its end."""
    record = {**_read(vault), _key(workflow, adapter): when}
    vault.prepare_state()
    vault.disk.replace(vault.state / _FILE, (json.dumps(record, indent=1) + "\n").encode(), vault.state)


def _key(workflow: str, adapter: str) -> str:
    return f"{workflow} {adapter}"


def _read(vault: Vault) -> Mapping[str, Any]:
    """The file; empty if there is none or it is damaged, so that the next run gives everything."""
    try:
        record = json.loads((vault.state / _FILE).read_bytes())
    except (OSError, ValueError):
        return {}
    return record if isinstance(record, dict) else {}
