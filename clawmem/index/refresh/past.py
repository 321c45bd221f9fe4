"""The index of a past commit, made from a copy of the present one if that is less work than reading everything."""

from __future__ import annotations

import sqlite3

from clawmem.index.tables.store import Index, open_store
from clawmem.vault.vault import Vault

# Copying a byte of the vault's files costs about a tenth of reading it.
_COPY = 0.1


def copy_present_index(present: Vault, index: Index, commit: str, folders: tuple[str, ...]) -> bool:
    """Copy the present index into a new one, which the caller then updates to the commit.

    Return False if there is no present index, or reading the whole commit is less work.
    """
    if index.engine.name != "fts5":
        return False
    source = open_store(present)
    if source is None:
        return False
    try:
        identity, head = index.meta("identity"), source.head()
        if source.engine.name != "fts5" or head is None or not _worth_it(present, head, commit, folders):
            return False
        source.database.backup(index.database)
        index.set_meta("identity", identity or "")
        return True
    except sqlite3.OperationalError:
        return False  # a writer has locked it for too long
    finally:
        source.close()


def _worth_it(present: Vault, head: str, commit: str, folders: tuple[str, ...]) -> bool:
    changed = present.changed_paths_or_none(head, commit)
    if changed is None:
        return False
    now, then = present.blobs_at(head, *folders), present.blobs_at(commit, *folders)
    work = sum(side.get(path, ("", 0))[1] for path in changed for side in (now, then))
    return work + _COPY * _bytes(now) < _bytes(then)


def _bytes(blobs: dict[str, tuple[str, int]]) -> int:
    return sum(size for _, size in blobs.values())
