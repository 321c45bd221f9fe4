"""How much a commit holds, read from git alone: what a backup says of a vault and a restored vault must have again."""

from __future__ import annotations

from clawmem.errors import ClawmemError
from clawmem.model.facts.codec import parse_items
from clawmem.model.records.entity import ITEMS, name_of_path
from clawmem.model.records.event import parse_events
from clawmem.model.records.layout import is_ledger
from clawmem.vault.vault import Vault

_BATCH_SIZE = 200


def counts_at(vault: Vault, commit: str) -> dict[str, int]:
    """Facts, events, entities, files and commits, and the files among them that do not parse. Runs git."""
    paths = vault.files_at(commit)
    counts = {"facts": 0, "events": 0, "entities": 0, "files": len(paths), "commits": 0, "unreadable": 0}
    counts["entities"] = len({name for path in paths if (name := name_of_path(path))})
    counts["commits"] = int(vault.git.run("rev-list", "--count", commit))
    telling = [path for path in paths if path.isprintable() and (is_ledger(path) or _holds_facts(path))]
    for start in range(0, len(telling), _BATCH_SIZE):
        for path, data in vault.contents_at(commit, telling[start : start + _BATCH_SIZE]).items():
            _count(path, data or b"", counts)
    return counts


def _holds_facts(path: str) -> bool:
    return path.endswith(f"/{ITEMS}") and name_of_path(path) is not None


def _count(path: str, data: bytes, counts: dict[str, int]) -> None:
    try:
        if is_ledger(path):
            counts["events"] += len(parse_events(data, path))
        else:
            counts["facts"] += len(parse_items(data, path))
    except ClawmemError:
        counts["unreadable"] += 1
