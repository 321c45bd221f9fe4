"""The transaction: under the writer lock, decided changes become commits and then the work tree follows.

The commit is the transaction. Its blobs and the move of the branch are one atomic step of git; before it nothing
has happened, after it everything has, and whatever a crash leaves undone the next transaction finishes.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from clawmem.errors import GitFailed, Locked, NeedsPerson, Refused
from clawmem.model.change import Change
from clawmem.vault.fast_import import stream
from clawmem.vault.hand_edits import HandEdits, check_edits, finish_scan, plan_adoption, start_scan
from clawmem.vault.lock import writer_lock
from clawmem.vault.pending import (
    Pending,
    clear_pending,
    put,
    read_pending,
    settle,
    update_index,
    write_pending,
)
from clawmem.vault.stale import clear_stale_locks
from clawmem.vault.vault import Vault

_UNFINISHED = ("MERGE_HEAD", "rebase-merge", "rebase-apply", "CHERRY_PICK_HEAD", "REVERT_HEAD")


class Transaction:
    """The right to write, held by one process at a time. `notices` are sentences for the person."""

    def __init__(self, vault: Vault, now: datetime) -> None:
        self.vault = vault
        self.now = now
        self.notices: list[str] = []
        self.unreadable: dict[str, str] = {}
        self._read: dict[str, bytes | None] = {}
        self._scan: subprocess.Popen[bytes] | None = None

    def read(self, path: str) -> bytes | None:
        """A work tree file as this transaction sees it; remembered, so that a later edit by hand is noticed."""
        self.adopt()
        if path not in self._read:
            self._read[path] = self.vault.read(path)
        return self._read[path]

    def begin(self) -> None:
        """Finish what an earlier process left undone and start looking for edits made by hand."""
        self.notices += clear_stale_locks(self.vault)
        _refuse_unfinished(self.vault)
        pending = read_pending(self.vault)
        if pending is not None:
            self.notices += [f"kept your edit of {path}" for path in settle(self.vault, pending)]
            clear_pending(self.vault)
        self._scan = start_scan(self.vault)

    def adopt(self) -> HandEdits:
        """Commit the edits made by hand since the last change, once; files that do not parse stay as they are."""
        scan, self._scan = self._scan, None
        if scan is None:
            return HandEdits((), ())
        edits = check_edits(self.vault, finish_scan(self.vault, scan))
        for path, problem in edits.bad:
            self.unreadable[path] = str(problem)
            self.notices.append(f"left alone: {problem}")
        if edits.good:
            changes = plan_adoption(self.vault, edits.good)
            self._land(changes)
            update_index(self.vault, edits.good)
            clear_pending(self.vault)
            self.notices.append(f"took in {len(edits.good)} file(s) edited by hand")
        return edits

    def commit(self, changes: Sequence[Change]) -> tuple[str, ...]:
        """Write the changes, one commit each, all or none; returns the commits' names, oldest first.

        Once this returns they are reachable from the branch. Changes that alter nothing must not be passed.
        Raises Locked where a file was edited by hand since this transaction read it: nothing is written then.
        """
        self.adopt()
        if not changes:
            return ()
        final: dict[str, bytes | None] = {}
        for change in changes:
            final.update(change.writes)
        self._refuse_edited(final)
        names = self._land(changes)
        self._follow(final)
        update_index(self.vault, tuple(final))
        for change in changes:
            for name in change.consumes:
                self.vault.disk.remove(self.vault.state / name)
        clear_pending(self.vault)
        self._read.update(final)
        return names

    def _land(self, changes: Sequence[Change]) -> tuple[str, ...]:
        head = self.vault.head()
        if head.branch is None:
            raise Refused(
                "HEAD is detached: a commit made now would belong to no branch.",
                "Return to the branch with `git switch main`, then run the command again.",
            )
        paths = tuple(dict.fromkeys(path for change in changes for path in change.writes))
        consumes = tuple(name for change in changes for name in change.consumes)
        write_pending(self.vault, Pending(head.commit, paths, changes[-1].subject, consumes))
        given = stream(changes, head.branch, head.commit, int(self.now.timestamp()))
        try:
            printed = self.vault.git.run("fast-import", "--quiet", "--done", given=given)
        except GitFailed as problem:
            clear_pending(self.vault)
            if self.vault.head() != head:
                raise Locked(
                    "Another git command moved the branch at the same moment; nothing was written.", "Try again."
                ) from problem
            raise
        return tuple(printed.decode().split())

    def _refuse_edited(self, final: dict[str, bytes | None]) -> None:
        for path in final:
            known = self._read[path] if path in self._read else self.read(path)
            if self.vault.read(path) != known:
                raise Locked(f"{path} was edited while this ran; nothing was written.", "Run the command again.")

    def _follow(self, final: dict[str, bytes | None]) -> None:
        for path, content in final.items():
            if self.vault.read(path) == self._read[path]:
                put(self.vault, path, content)
            else:
                self.notices.append(f"kept your edit of {path}; the committed version is in HEAD")


@contextmanager
def transaction(vault: Vault, now: datetime, purpose: str, wait: float | None = None) -> Iterator[Transaction]:
    """Take the writer lock and begin; `wait` defaults to the vault's `lock.wait_seconds`."""
    vault.prepare_state()
    limit = float(vault.settings.get("lock.wait_seconds")) if wait is None else wait
    with writer_lock(vault.state / "lock", limit, purpose) as descriptor:
        vault.git.keep_open = (descriptor,)
        started = Transaction(vault, now)
        try:
            started.begin()
            yield started
        finally:
            _abandon(started)
            vault.git.keep_open = ()


def _abandon(unused: Transaction) -> None:
    scan = unused._scan
    if scan is not None:
        scan.kill()
        scan.communicate()


def _refuse_unfinished(vault: Vault) -> None:
    for name in _UNFINISHED:
        if (vault.git_dir / name).exists():
            what = name.split("_")[0].split("-")[0].lower()
            raise NeedsPerson(
                f"A git {what} is unfinished in the vault.",
                f"Finish it with `git {what} --continue` or drop it with `git {what} --abort`.",
            )
