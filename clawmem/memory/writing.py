"""Open a write scope: take the writer lock, commit hand edits, complete merges made by git."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from clawmem.errors import ClawmemError, Locked, StorageFailed
from clawmem.index.refresh import HAS_DUPLICATES, is_index_damage, open_index
from clawmem.index.tables.store import delete_index
from clawmem.memory.permission import check_not_read_only
from clawmem.memory.scope import WriteScope
from clawmem.model.records.caller import Caller
from clawmem.vault.commit.transaction import Transaction, transaction
from clawmem.vault.git.refs import last_merge_mark
from clawmem.vault.vault import Vault
from clawmem.vault.work_tree import mark_looked


@contextmanager
def writing(vault: Vault, caller: Caller, purpose: str, dry_run: bool = False) -> Iterator[WriteScope]:
    """Open a write scope under the writer lock. Hand edits are committed first.

    A `dry_run` takes no lock and commits nothing, so it also works on a
    read-only disk. Raise NotPermitted if the calling agent is read-only, Locked if the lock is not free in time."""
    if caller.agent:
        check_not_read_only(vault, caller)
    begun = _dry_run(vault, caller, purpose) if dry_run else transaction(vault, caller.now, purpose, caller=caller)
    with begun as txn:
        if vault.head().commit is None:
            raise Locked("The vault has no first commit yet.", "Run `clawmem init` on it again.")
        if not dry_run:
            mark_looked(vault)
        # git looks for hand edits while the index opens. If there are any, the index is opened again.
        index = open_index(vault)
        if txn.adopt().good:
            index.close()
            index = open_index(vault)
        try:
            work = WriteScope(vault, caller, txn, index, purpose)
            if not dry_run and (last_merge_mark(vault.git_dir) is not None or (vault.state / "merges-left").exists()):
                _complete_git_merges(work)
            if not dry_run and index.meta(HAS_DUPLICATES):
                from clawmem.memory.sync.complete_merges import (
                    merge_duplicate_ids,  # only after merges and copies made without clawmem
                )

                merge_duplicate_ids(work)
            yield work
            work.update_index()
        except (ClawmemError, OSError):
            raise
        except Exception as problem:
            if not is_index_damage(index, problem):
                raise
            raise _index_error(vault, problem) from problem
        finally:
            index.close()


def adopt_edits(vault: Vault, caller: Caller) -> tuple[str, ...]:
    """Commit the edits made by hand before somebody reads, and return what is to be told of it.

    A reader waits for no writer, who commits them anyway, and reads where nothing can be written."""
    try:
        with transaction(vault, caller.now, "read", wait=0, caller=caller) as txn:
            mark_looked(vault)
            txn.adopt()
        return tuple(txn.notices)
    except (ClawmemError, OSError):
        return ()


@contextmanager
def _dry_run(vault: Vault, caller: Caller, purpose: str) -> Iterator[Transaction]:
    from clawmem.vault.commit.transaction import DryRun  # only dry runs

    txn = DryRun(vault, caller.now, purpose)
    txn.begin()
    yield txn


def _complete_git_merges(work: WriteScope) -> None:
    """Complete the merges that git made since the last write, and those that an earlier command postponed."""
    from clawmem.vault.history.git_merges import (
        has_new_merges,
        mark_merges_complete,
        merge_point,
        new_merges,
        read_unfinished_merges,
    )  # only where people merge by hand

    merged = has_new_merges(work.vault)
    if merged or read_unfinished_merges(work.vault):
        from clawmem.memory.sync.complete_merges import complete_merges

        point = merge_point(work.vault)
        merges = complete_merges(work, new_merges(work.vault, point) if merged and point else ())
        if merges.commits:
            work.update_index()
        if point and not merges.postponed:
            mark_merges_complete(work.vault, point)


def _index_error(vault: Vault, problem: Exception) -> ClawmemError:
    """Return the error to raise for an index failure. A damaged index is discarded; the next command rebuilds it."""
    if "locked" in str(problem):
        return Locked("The search index is held by another process.", "Try again.")
    delete_index(vault)
    return StorageFailed(
        f"The search index is damaged ({problem}), so the command stopped.",
        "Run the command again: it rebuilds the index. Earlier commits are kept.",
    )
