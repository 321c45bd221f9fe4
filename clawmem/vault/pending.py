"""The note of a transaction under way: what lets the next command finish the job after a crash."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import NamedTuple

from clawmem.errors import StorageFailed
from clawmem.vault.vault import Vault

_NAME = "pending.json"


class Pending(NamedTuple):
    """The commit a transaction started from, the files it writes, the subject of its last commit, and the
    state files that are obsolete once it has landed."""

    parent: str | None
    paths: tuple[str, ...]
    subject: str
    consumes: tuple[str, ...]


def write_pending(vault: Vault, pending: Pending) -> None:
    """Note the transaction before its commit can land."""
    vault.disk.replace(vault.state / _NAME, json.dumps(pending._asdict()).encode(), vault.state)


def read_pending(vault: Vault) -> Pending | None:
    """The transaction that did not get to its end, or None."""
    data = vault.disk.read(vault.state / _NAME)
    if data is None:
        return None
    try:
        record = json.loads(data)
        return Pending(record["parent"], tuple(record["paths"]), record["subject"], tuple(record["consumes"]))
    except (ValueError, KeyError, TypeError):
        raise StorageFailed(
            f"{vault.state / _NAME} is damaged, so an interrupted change cannot be finished.",
            "Compare `git status` in the vault with what you expect, then delete that file.",
        ) from None


def clear_pending(vault: Vault) -> None:
    """The transaction is complete."""
    vault.disk.remove(vault.state / _NAME)


def settle(vault: Vault, pending: Pending) -> list[str]:
    """Bring the work tree to HEAD for the files of a crashed transaction; returns those a person changed meanwhile.

    A file is replaced only while it still holds what the transaction started from, so an edit made by hand
    in between survives.
    """
    head = vault.head().commit
    if head is None or head == pending.parent:
        return []
    before = vault.contents_at(pending.parent, pending.paths) if pending.parent else {}
    after = vault.contents_at(head, pending.paths)
    kept = []
    for path in pending.paths:
        standing = vault.read(path)
        if standing == after[path]:
            continue
        if standing == before.get(path):
            put(vault, path, after[path])
        else:
            kept.append(path)
    update_index(vault, pending.paths)
    if pending.consumes and _landed(vault, pending, head):
        for name in pending.consumes:
            vault.disk.remove(vault.state / name)
    return kept


def _landed(vault: Vault, pending: Pending, head: str) -> bool:
    since = f"{pending.parent}..{head}" if pending.parent else head
    subjects = vault.git.run("log", "--format=%s", since).decode(errors="replace")
    return pending.subject in subjects.splitlines()


def put(vault: Vault, path: str, content: bytes | None) -> None:
    """Make one work tree file hold `content`, or remove it; refuses a path that a link leads out of the vault."""
    target = vault.path(path)
    root = vault.root.resolve()
    if not target.parent.resolve().is_relative_to(root):
        raise StorageFailed(f"{path} leads out of the vault through a link.", "Replace the link by a real folder.")
    if content is None:
        vault.disk.remove(target)
    else:
        vault.disk.replace(target, content, vault.state)


def update_index(vault: Vault, paths: Sequence[str]) -> None:
    """Tell git's index about these files, so that `git status` is empty."""
    given = "".join(f"{path}\0" for path in paths).encode()
    vault.git.run("update-index", "--add", "--remove", "-z", "--stdin", given=given)
