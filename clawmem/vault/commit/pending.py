"""The note of a transaction in progress, with which the next command finishes it after a crash."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from clawmem.errors import InvalidInput, NeedsDecision, Refused, StorageFailed
from clawmem.model.named_tuple import NamedTuple
from clawmem.model.records.layout import check_inside
from clawmem.model.records.strict_json import checksum
from clawmem.vault.disk import partial_path, writer_lock
from clawmem.vault.git.index import (
    ADD_TO_INDEX,
    REMOVE_FROM_INDEX,
    lock_index,
    replace_index,
    unlock_index,
)
from clawmem.vault.git.refs import PENDING_FILE, common_dir_of
from clawmem.vault.vault import Vault
from clawmem.vault.work_tree import update_file


class PendingCommit(NamedTuple):
    """A transaction in progress.

    `parent` is the commit that it started from, `paths` are the files it writes, `subject` is that of its last commit,
    and `consumes` are the state files to delete after the commit.
    """

    parent: str | None
    paths: tuple[str, ...]
    subject: str
    consumes: tuple[str, ...]


def write_pending(vault: Vault, pending: PendingCommit) -> None:
    """Write the note, before the commits are made."""
    record = {**pending._asdict(), "seal": _seal(pending)}
    vault.disk.replace(vault.state / PENDING_FILE, json.dumps(record).encode(), vault.state)


def read_pending(vault: Vault) -> PendingCommit | None:
    """Return the unfinished transaction, or None. Raise StorageFailed if the note is damaged."""
    data = vault.disk.read(vault.state / PENDING_FILE)
    if data is None:
        return None
    try:
        record = json.loads(data)
        pending = PendingCommit(record["parent"], tuple(record["paths"]), record["subject"], tuple(record["consumes"]))
        # Earlier versions wrote no seal.
        if record.get("seal", _seal(pending)) != _seal(pending):
            raise ValueError("wrong seal")
        for path in (*pending.paths, *pending.consumes):
            check_inside(path)
        return pending
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, InvalidInput):
        raise StorageFailed(
            f"{vault.state / PENDING_FILE} is damaged, so an interrupted change cannot be finished.",
            "Compare `git status` in the vault with what you expect, then delete that file.",
        ) from None


def _seal(pending: PendingCommit) -> int:
    return checksum(pending.parent, *pending.paths, pending.subject, *pending.consumes)


def is_pending(vault: Vault) -> bool:
    """Return whether a transaction is in progress, or was when its process died."""
    return (vault.state / PENDING_FILE).exists()


def clear_pending(vault: Vault) -> None:
    """Delete the note: the transaction is complete."""
    vault.disk.remove(vault.state / PENDING_FILE)


@contextmanager
def write_lock(vault: Vault, wait: float, purpose: str) -> Iterator[None]:
    """Hold the writer lock, as do the git processes that start meanwhile. Raise Locked after `wait` seconds."""
    vault.prepare_state()
    with writer_lock(vault.state / "lock", wait, purpose) as descriptor:
        vault.git.inherited_descriptors = (descriptor,)
        try:
            yield
        finally:
            vault.git.inherited_descriptors = ()


@contextmanager
def locked_index(vault: Vault) -> Iterator[list[str]]:
    """Lock git's index while the branch moves. Yields notices about stale locks that were removed.

    If the change is left for the next command to finish, the lock stays.
    """
    notices = lock_index(vault)
    try:
        yield notices
    finally:
        if not is_pending(vault):
            unlock_index(vault)


def finish_pending(vault: Vault) -> list[str]:
    """Finish the transaction of a killed process, if there is one, and unlock git's index. Requires the writer lock.

    Return the files that somebody edited meanwhile.
    """
    pending, kept = read_pending(vault), list[str]()
    if pending is not None:
        lock_index(vault)
        kept = _update_files(vault, pending)
        clear_pending(vault)
    unlock_index(vault)
    return kept


def _update_files(vault: Vault, pending: PendingCommit) -> list[str]:
    """Update the files of a crashed transaction to HEAD.

    A file is replaced only if it still has the contents from before the transaction, so edits made meanwhile survive.
    """
    head = vault.head().commit
    if head is None or head == pending.parent:
        return []
    before = _before(vault, pending)
    after = vault.contents_at(head, pending.paths)
    kept = []
    for path in pending.paths:
        vault.disk.remove(partial_path(vault.path(path)))
        if not update_file(vault, path, before.get(path), after[path]):
            kept.append(path)
    update_git_index(vault, pending.paths, kept)
    if pending.consumes and find_commits(vault, pending):
        remove_consumed(vault, pending.consumes)
    return kept


def _before(vault: Vault, pending: PendingCommit) -> dict[str, bytes | None]:
    """Return the files as of the start of the transaction. If that commit is gone, current contents count as edits."""
    if pending.parent is None:
        return {}
    found = vault.git.read_blobs(f"{pending.parent}:{path}" for path in pending.paths)
    return {name.split(":", 1)[1]: data for name, data in found.items()}


def find_commits(vault: Vault, pending: PendingCommit) -> tuple[str, ...]:
    """Return the commits since the transaction began, oldest first. Empty if its own commits are not among them."""
    since = f"{pending.parent}..HEAD" if pending.parent else "HEAD"
    printed = vault.git.try_run("log", "--reverse", "--format=%H %s", since)
    rows = [line.partition(" ") for line in (printed or b"").decode(errors="replace").splitlines()]
    if pending.subject not in (subject for _, _, subject in rows):
        return ()
    return tuple(name for name, _, _ in rows)


def remove_consumed(vault: Vault, names: Sequence[str]) -> None:
    """Delete the state files that the commit made obsolete."""
    for name in names:
        vault.disk.remove(vault.state / name)


def update_git_index(vault: Vault, paths: Sequence[str], kept: Sequence[str]) -> None:
    """Update git's index to HEAD for these files, including those in `kept` that somebody edited. Requires
    `lock_index`."""
    with replace_index(vault):
        _update(vault, [path for path in paths if path not in set(kept)])
        run_with_paths(vault, kept, "reset", "--quiet", "HEAD")


def run_with_paths(vault: Vault, paths: Sequence[str], *command: str) -> None:
    """Run a git command for exactly these files, if there are any."""
    if paths:
        names = _names(f":(literal){path}" for path in paths)
        vault.git.run(*command, "--pathspec-from-file=-", "--pathspec-file-nul", stdin=names)


def _update(vault: Vault, paths: Sequence[str]) -> None:
    """Update git's index for these files, so that `git status` reports no change."""
    existing = {path for path in paths if vault.obstacle(path) is None and vault.path(path).exists()}
    missing = [path for path in paths if path not in existing]
    for names, command in ((existing, ADD_TO_INDEX), (missing, REMOVE_FROM_INDEX)):
        if names:
            vault.git.run(*command, stdin=_names(names))


def _names(paths: Iterable[str]) -> bytes:
    return "".join(f"{path}\0" for path in paths).encode(errors="surrogateescape")


# Files in the git folder while an operation is unfinished, and the name of the operation.
_UNFINISHED = {
    "MERGE_HEAD": "merge",
    "rebase-merge": "rebase",
    "rebase-apply": "rebase",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
}


def refuse_interrupted(vault: Vault) -> None:
    """Raise NeedsDecision during a merge, rebase or the like, and Refused in a sparse checkout."""
    if (vault.git_dir / "info" / "sparse-checkout").exists() and _is_sparse(vault):
        raise Refused(
            "This vault is a sparse checkout: facts that are not on disk would be committed as deleted.",
            "Restore them with `git sparse-checkout disable`.",
        )
    for name, what in _UNFINISHED.items():
        if (vault.git_dir / name).exists():
            then = "; `clawmem sync` merges without it" if what == "merge" else ""
            raise NeedsDecision(
                f"A git {what} is unfinished in the vault.",
                f"Finish it with `git {what} --continue`, or cancel it with `git {what} --abort`{then}.",
            )


def _is_sparse(vault: Vault) -> bool:
    places = (common_dir_of(vault.git_dir) / "config", vault.git_dir / "config.worktree")
    asked = ("--bool", "core.sparseCheckout")
    return any(vault.git.try_run("config", "--file", str(place), *asked) == b"true\n" for place in places)
