"""Which files were without a problem at the last check, and are still the same.

A file is the same if its bytes are those of the commit of that check, and clawmem is the same."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import clawmem
from clawmem.errors import ClawmemError
from clawmem.index.refresh.refresh import open_index
from clawmem.index.search.proven import IndexedFiles
from clawmem.index.tables.store import UNREADABLE, index_path, open_store
from clawmem.memory.health.checks.problem import HealthProblem
from clawmem.vault.commit.integrity import altered_files, head_blobs
from clawmem.vault.edits.scan import finish_scan, start_scan
from clawmem.vault.vault import Vault

STATE = "doctor.json"


class CommittedFiles(NamedTuple):
    """The files of HEAD with the names of their blobs, the files that differ from it as git sees, and those of which
    git does not see that they differ."""

    head: str
    blobs: Mapping[str, str]
    waiting: tuple[str, ...]
    altered: Sequence[str]


def committed_files(vault: Vault, head: str) -> CommittedFiles:
    """Compare the work tree with HEAD. Reads every file. Runs git."""
    waiting = finish_scan(vault, start_scan(vault))
    blobs = head_blobs(vault, head)
    return CommittedFiles(head, blobs, waiting, altered_files(vault, blobs, waiting))


def unchanged_files(vault: Vault, now: CommittedFiles) -> tuple[str | None, frozenset[str]]:
    """Return the commit of the last check, and the files in which it found nothing and that are the same now; none if
    another clawmem made it. Runs git."""
    try:
        record = json.loads(vault.disk.read(vault.state / STATE) or b"{}")
        commit, left = str(record["commit"]), {str(path) for path in record["left"]}
        if record["version"] != _program():
            return None, frozenset()
        before = now.blobs if commit == now.head else head_blobs(vault, commit)
    except (ValueError, TypeError, KeyError, ClawmemError):
        return None, frozenset()
    differing = {*now.waiting, *now.altered, *left}
    same = (path for path, blob in now.blobs.items() if path not in differing and before.get(path) == blob)
    return commit, frozenset(same)


def record_check(vault: Vault, now: CommittedFiles, problems: Iterable[HealthProblem], unread: Collection[str]) -> None:
    """Store that everything in HEAD was checked but the files with a problem and the `unread` ones."""
    left = sorted({*unread, *(problem.path for problem in problems if problem.path is not None)} & now.blobs.keys())
    record = json.dumps({"version": _program(), "commit": now.head, "left": left})
    with suppress(OSError, ClawmemError):  # a vault that cannot be written was checked all the same
        vault.disk.replace(vault.state / STATE, f"{record}\n".encode(), vault.state)


def _program() -> str:
    """Return the version of clawmem and when its newest module was written: rules change between two releases, too."""
    newest = max(module.stat().st_mtime_ns for module in Path(clawmem.__file__).parent.rglob("*.py"))
    return f"{clawmem.__version__} {newest}"


def indexed_files(vault: Vault, blobs: Mapping[str, str]) -> IndexedFiles | None:
    """Return the rows of HEAD, or None if there is no index that can be used."""
    try:
        index = open_store(vault) if index_path(vault).exists() else None
        if index is not None and index.head() != vault.head().commit:
            index.close()
            index = open_index(vault)
        return None if index is None else IndexedFiles(index, blobs)
    except (ClawmemError, OSError, *UNREADABLE):
        return None
