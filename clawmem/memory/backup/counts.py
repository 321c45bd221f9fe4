"""How much a commit holds, read from git alone: what a backup says of a vault and a restored vault must have again."""

from __future__ import annotations

from clawmem.errors import ClawmemError
from clawmem.model.facts.codec import parse_items
from clawmem.model.kinds import ITEMS_FILE, LEDGER_DAY, file_kind
from clawmem.model.records.entity import name_of_path
from clawmem.model.records.event import parse_events
from clawmem.vault.vault import Vault

_AT_ONCE = 200


def counts_at(vault: Vault, commit: str) -> dict[str, int]:
    """Facts, events, entities, files and commits, and the files among them that do not parse. Runs git."""
    paths = vault.files_at(commit)
    counts = {"facts": 0, "events": 0, "entities": 0, "files": len(paths), "commits": 0, "unreadable": 0}
    counts["entities"] = len({name for path in paths if (name := name_of_path(path))})
    counts["commits"] = int(vault.git.run("rev-list", "--count", commit))
    telling = [path for path in paths if file_kind(path) in (LEDGER_DAY, ITEMS_FILE)]
    for start in range(0, len(telling), _AT_ONCE):
        for path, data in vault.contents_at(commit, telling[start : start + _AT_ONCE]).items():
            _count(path, data or b"", counts)
    return counts


def _count(path: str, data: bytes, counts: dict[str, int]) -> None:
    try:
        if file_kind(path) is LEDGER_DAY:
            counts["events"] += len(parse_events(data, path))
        else:
            counts["facts"] += len(parse_items(data, path))
    except ClawmemError:
        counts["unreadable"] += 1
