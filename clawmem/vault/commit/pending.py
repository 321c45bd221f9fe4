"""The note of a transaction under way: what lets the next command finish the job after a crash."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from clawmem.errors import InvalidInput, StorageFailed
from clawmem.model.records.layout import check_inside
from clawmem.model.records.seal import checksum
from clawmem.vault.disk import beside
from clawmem.vault.git.index import hold_index, let_go, new_index
from clawmem.vault.vault import Vault

_NAME = "pending.json"


class PendingCommit(NamedTuple):
    """The commit a transaction started from, the files it writes, the subject of its last commit, and the
    state files that are obsolete once it has landed."""

    parent: str | None
    paths: tuple[str, ...]
    subject: str
    consumes: tuple[str, ...]


def write_pending(vault: Vault, pending: PendingCommit) -> None:
    """Note the transaction before its commit can land."""
    record = {**pending._asdict(), "seal": _seal(pending)}
    vault.disk.replace(vault.state / _NAME, json.dumps(record).encode(), vault.state)


def read_pending(vault: Vault) -> PendingCommit | None:
    """The transaction that did not get to its end, or None."""
    data = vault.disk.read(vault.state / _NAME)
    if data is None:
        return None
    try:
        record = json.loads(data)
        pending = PendingCommit(record["parent"], tuple(record["paths"]), record["subject"], tuple(record["consumes"]))
        # Versions before the seal left none.
        if record.get("seal", _seal(pending)) != _seal(pending):
            raise ValueError("another seal")
        for path in (*pending.paths, *pending.consumes):
            check_inside(path)
        return pending
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, InvalidInput):
        raise StorageFailed(
            f"{vault.state / _NAME} is damaged, so an interrupted change cannot be finished.",
            "Compare `git status` in the vault with what you expect, then delete that file.",
        ) from None


def _seal(pending: PendingCommit) -> int:
    return checksum(pending.parent, *pending.paths, pending.subject, *pending.consumes)


def is_pending(vault: Vault) -> bool:
    """Whether a transaction is under way, or was when its process died."""
    return (vault.state / _NAME).exists()


def clear_pending(vault: Vault) -> None:
    """The transaction is complete."""
    vault.disk.remove(vault.state / _NAME)


@contextmanager
def held_index(vault: Vault) -> Iterator[list[str]]:
    """Hold git's index while the branch moves; a change that is left for the next command to finish goes on holding
    it. Yields what was cleared out of the way, in sentences."""
    said = hold_index(vault)
    try:
        yield said
    finally:
        if not is_pending(vault):
            let_go(vault)


def settle(vault: Vault) -> list[str]:
    """Finish the transaction that a killed process left, if there is one, and let go of git's index; returns the files
    that a person changed meanwhile. The writer lock must be held."""
    pending, kept = read_pending(vault), list[str]()
    if pending is not None:
        hold_index(vault)
        kept = _bring_along(vault, pending)
        clear_pending(vault)
    let_go(vault)
    return kept


def _bring_along(vault: Vault, pending: PendingCommit) -> list[str]:
    """Bring the work tree to HEAD for the files of a crashed transaction.

    A file is replaced only while it still holds what the transaction started from, so an edit made by hand
    in between survives.
    """
    head = vault.head().commit
    if head is None or head == pending.parent:
        return []
    before = _before(vault, pending)
    after = vault.contents_at(head, pending.paths)
    kept = []
    for path in pending.paths:
        vault.disk.remove(beside(vault.path(path)))
        if not bring(vault, path, before.get(path), after[path]):
            kept.append(path)
    sync_index(vault, pending.paths, kept)
    if pending.consumes and landed(vault, pending):
        discard_consumed(vault, pending.consumes)
    return kept


def _before(vault: Vault, pending: PendingCommit) -> dict[str, bytes | None]:
    """What the files held when the transaction began. Where that commit is gone nothing is known of it, and what is
    there now counts as an edit."""
    if pending.parent is None:
        return {}
    found = vault.git.blobs(f"{pending.parent}:{path}" for path in pending.paths)
    return {name.split(":", 1)[1]: data for name, data in found.items()}


def landed(vault: Vault, pending: PendingCommit) -> tuple[str, ...]:
    """The commits since the transaction began, oldest first, where its own are among them; else none."""
    since = f"{pending.parent}..HEAD" if pending.parent else "HEAD"
    printed = vault.git.try_run("log", "--reverse", "--format=%H %s", since)
    rows = [line.partition(" ") for line in (printed or b"").decode(errors="replace").splitlines()]
    if pending.subject not in (subject for _, _, subject in rows):
        return ()
    return tuple(name for name, _, _ in rows)


def discard_consumed(vault: Vault, names: Sequence[str]) -> None:
    """Remove the state files that a landed commit made obsolete."""
    for name in names:
        vault.disk.remove(vault.state / name)


def bring(vault: Vault, path: str, before: bytes | None, after: bytes | None) -> bool:
    """Make one work tree file hold `after` (None: be gone) where it holds `before`; False where it holds neither."""
    if vault.obstacle(path) is not None:
        return after is None and before is None
    standing = vault.read(path)
    if standing == after:
        return True
    if standing != before:
        return False
    put(vault, path, after)
    return True


def put(vault: Vault, path: str, content: bytes | None) -> None:
    """Make one work tree file hold `content`, or remove it and the folders that are empty then."""
    target = vault.path(path)
    if content is not None:
        vault.disk.replace(target, content, vault.state)
        return
    vault.disk.remove(target)
    folder = target.parent
    while folder != vault.root:
        try:
            folder.rmdir()
        except OSError:
            return  # not empty, which is the usual end
        folder = folder.parent


def sync_index(vault: Vault, paths: Sequence[str], kept: Sequence[str]) -> None:
    """Make git's index say of each file what HEAD says, also of those that a person changed and we kept. It must be
    held."""
    with new_index(vault):
        _update(vault, [path for path in paths if path not in set(kept)])
        if kept:
            names = "".join(f":(literal){path}\0" for path in kept).encode(errors="surrogateescape")
            vault.git.run("reset", "--quiet", "HEAD", "--pathspec-from-file=-", "--pathspec-file-nul", given=names)


def _update(vault: Vault, paths: Sequence[str]) -> None:
    """Tell git's index about these files, so that `git status` is empty."""
    there = {path for path in paths if vault.obstacle(path) is None and vault.path(path).exists()}
    gone = [path for path in paths if path not in there]
    for names, options in ((there, ("--add", "--chmod=-x")), (gone, ("--force-remove",))):
        if names:
            given = "".join(f"{path}\0" for path in names).encode(errors="surrogateescape")
            vault.git.run("update-index", *options, "-z", "--stdin", given=given)
