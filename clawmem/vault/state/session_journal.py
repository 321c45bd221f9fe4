"""The journal of a session below `.git/clawmem/sessions/`: notes, facts served, and signs of life.

Each entry is one line of JSON, on the disk before the command returns, so that a note that was acknowledged survives a
kill. The next checkpoint, end or heartbeat moves the journal aside and puts its entries into the session record.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from clawmem.errors import StorageFailed
from clawmem.model.records.strict_json import checksum
from clawmem.platform.files import sync_to_disk
from clawmem.vault.disk import append_line, complete_lines, move_aside
from clawmem.vault.vault import Vault

FOLDER = "sessions"
_JOURNAL, _FOLDING = ".log", ".folding"
_SEAL = "seal"


def record_entry(vault: Vault, session: str, entry: Mapping[str, Any], durable: bool = True) -> None:
    """Append an entry. Raise StorageFailed if the disk does not take it."""
    sealed = {**entry, _SEAL: checksum(json.dumps(entry, sort_keys=True))}
    path = vault.state / FOLDER / f"{session}{_JOURNAL}"
    try:
        vault.prepare_state()
        path.parent.mkdir(mode=0o700, exist_ok=True)
        append_line(path, f"{json.dumps(sealed, ensure_ascii=False)}\n".encode())
        if durable:
            sync_to_disk(path)
    except OSError as problem:
        raise StorageFailed(f"The note was not stored: {problem.strerror}.", "Free space or check the disk.") from None


def take_entries(vault: Vault, session: str) -> tuple[list[dict[str, Any]], tuple[str, ...]]:
    """Move the journal aside; return its entries, and the files for `Change.consumes`.

    If an earlier run moved a journal aside and did not finish, only that one is returned. The caller holds the writer
    lock."""
    path, folding = (vault.state / FOLDER / f"{session}{ending}" for ending in (_JOURNAL, _FOLDING))
    entries = _entries(move_aside(path, folding))
    return entries, (f"{FOLDER}/{session}{_FOLDING}",) if folding.exists() else ()


def read_entries(vault: Vault, session: str) -> list[dict[str, Any]]:
    """Return all entries that are not in the session record yet, oldest first."""
    paths = (vault.state / FOLDER / f"{session}{ending}" for ending in (_FOLDING, _JOURNAL))
    return [entry for path in paths for entry in _entries(vault.disk.read(path) or b"")]


def sessions_with_entries(vault: Vault) -> list[str]:
    """Return the ids of the sessions that have a journal."""
    folder = vault.state / FOLDER
    return sorted({path.stem for path in folder.iterdir()}) if folder.is_dir() else []


def _entries(data: bytes) -> list[dict[str, Any]]:
    found = []
    for line in complete_lines(data).decode(errors="replace").splitlines():
        try:
            entry = json.loads(line)
            seal = entry.pop(_SEAL)
        except (ValueError, AttributeError, KeyError):
            continue
        if seal == checksum(json.dumps(entry, sort_keys=True)):
            found.append(entry)
    return found
