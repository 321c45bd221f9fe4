"""The transaction: under the writer lock, changes become commits, and then the work tree follows.

git creates the blobs and moves the branch in one atomic step. Before this step nothing has changed. After it the change
is complete, and the next transaction finishes whatever a crash left undone.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from threading import Thread
from typing import TypeVar

from clawmem.errors import (
    ChangedMeanwhile,
    ClawmemError,
    ConflictMarkers,
    GitFailed,
    Refused,
    Unreadable,
)
from clawmem.model.language.text import counted, some_of
from clawmem.model.records.caller import Caller
from clawmem.model.records.change import Change
from clawmem.model.records.strict_json import LOWEST_FILE_LIMIT, beyond_limit
from clawmem.vault.commit.fast_import import UNSIGNED_REF, delete_unsigned_ref, import_stream, sign_commits
from clawmem.vault.commit.pending import (
    PendingCommit,
    clear_pending,
    find_commits,
    finish_pending,
    is_pending,
    locked_index,
    refuse_interrupted,
    remove_consumed,
    update_git_index,
    write_lock,
    write_pending,
)
from clawmem.vault.commit.secret_gate import screened
from clawmem.vault.git.index import (
    clear_crash_reports,
    clear_stale_locks,
    lock_index,
    remove_partial_files,
    unlock_index,
)
from clawmem.vault.git.merge_driver import install_attributes, install_hook
from clawmem.vault.git.refs import Head
from clawmem.vault.state.own_commits import record_commits
from clawmem.vault.vault import Vault
from clawmem.vault.work_tree import (
    HandEdits,
    ReadSet,
    finish_scan,
    start_scan,
    update_file,
)

_IMPORT = ("fast-import", "--quiet", "--done")
# A small change is stored as loose objects, for which git does not wait for the disk by default. So it need not wait
# for the temporary pack either.
SMALL_CHANGE, WITHOUT_SYNC = 12, ("-c", "core.fsync=reference")
# So often at most, what a person's commit or edit interrupts is begun again.
_TRIES = 10
_Result = TypeVar("_Result")


class Transaction:
    """The right to write, held by one process at a time. `notices` are sentences for the user."""

    def __init__(self, vault: Vault, now: datetime, purpose: str, agent: Caller | None = None) -> None:
        self.vault = vault
        self.now = now
        # The caller if it is an agent: the edits by hand that it finds count as its own.
        self._agent = agent
        self.purpose = purpose
        self.notices: list[str] = []
        self.unreadable: dict[str, ClawmemError] = {}
        self.read_set = ReadSet(vault)
        # The commit before the first one that was written last.
        self.base: str | None = None
        self._scan: subprocess.Popen[bytes] | None = None
        self._tail: Thread | None = None

    def read(self, path: str) -> bytes | None:
        """Return a file of the work tree. It is remembered, so that a later edit by hand is noticed."""
        self.adopt()
        return self.read_set.read(path)

    def begin(self) -> None:
        """Finish what an earlier process left undone, and start looking for edits made by hand."""
        self.notices += clear_stale_locks(self.vault)
        remove_partial_files(self.vault)
        install_attributes(self.vault)
        install_hook(self.vault)
        refuse_interrupted(self.vault)
        if (self.vault.state / "redacting.json").exists():
            from clawmem.vault.history.redaction import resume_redaction  # only after an interrupted redaction

            self.notices += resume_redaction(self.vault)
        self._finish_pending()
        self._scan = start_scan(self.vault)

    def scan_again(self) -> None:
        """Look for edits made by hand once more, unless git still looks: the next `adopt` commits them."""
        if self._scan is None:
            self.read_set = ReadSet(self.vault)
            self._scan = start_scan(self.vault)

    def adopt(self) -> HandEdits:
        """Commit the edits made by hand since the last change, once. Files that do not parse stay as they are."""
        scan, self._scan = self._scan, None
        if scan is None:
            return HandEdits({}, ())
        changed = finish_scan(self.vault, scan)
        if not changed:
            return HandEdits({}, ())
        from clawmem.vault.edits.hand_edits import (
            check_edits,  # imports every kind of file, and is rarely needed
            finish_renames,
        )

        edits = check_edits(self.vault, finish_renames(self.vault, changed))
        if edits.good:
            with locked_index(self.vault) as notices:
                self.notices += notices

                def commit_found() -> HandEdits:
                    head = self.vault.head()
                    # Under this lock no git process changes files, so a second scan finds only edits by hand.
                    changed = finish_scan(self.vault, start_scan(self.vault))
                    found = check_edits(self.vault, finish_renames(self.vault, changed))
                    self._commit_edits(found.good, head)
                    return found

                edits = repeat_if_changed(commit_found)
        for path, problem in edits.bad:
            self.unreadable[path] = problem
            self.notices.append(f"left alone: {problem}")
        return edits

    def commit(self, changes: Sequence[Change], purpose: str | None = None) -> tuple[str, ...]:
        """Write the changes, one commit each, all or none. Return the names of the commits, oldest first.

        Afterwards they are reachable from the branch, and `read` returns the new contents. Do not pass changes that
        alter nothing. `purpose` replaces the purpose of the transaction.

        Raise Locked if a file was edited since this transaction read it, and SecretFound if a change contains a new
        credential. Nothing is written then.
        """
        self.adopt()
        if not changes:
            return ()
        self.wait()
        if is_pending(self.vault):
            self._finish_pending()
        checked, paths = self.vault.head(), tuple(dict.fromkeys(path for change in changes for path in change.writes))
        self.refuse_unsafe(paths)
        self.read_set.refuse_edited(paths)
        _refuse_large(changes)
        changes = screened(changes, self.read_set, self.vault.settings, purpose or self.purpose)
        final: dict[str, bytes | None] = {}
        for change in changes:
            final.update(change.writes)
        # From here on no other git process commits until the index matches our commit.
        self.notices += lock_index(self.vault)

        def write() -> tuple[str, ...]:
            nonlocal checked
            while (head := self.vault.head()) != checked:
                checked = head
                self.read_set.refuse_edited(paths)  # somebody committed meanwhile
            return self._write_commits(changes, checked)

        try:
            names = repeat_if_changed(write)
        except BaseException:
            if not is_pending(self.vault):
                unlock_index(self.vault)
            raise
        self._finish(changes, final)
        self.read_set.record_written(final)
        return names

    def _finish_pending(self) -> None:
        self.notices += [f"kept your edit of {path}" for path in finish_pending(self.vault)]

    def _commit_edits(self, good: Mapping[str, bytes | None], head: Head) -> None:
        from clawmem.vault.edits import adoption as edits

        committed = self.vault.contents_at(head.commit, good) if head.commit else {}
        edited = {path: data for path, data in good.items() if data != committed.get(path)}
        agent = self._agent.agent if self._agent else None
        if edited:
            reworded, notices = edits.with_reworded_lines(self.vault, committed, edited)
            if reworded:
                committed = {**self.vault.contents_at(head.commit or "", reworded), **committed}
                edited.update(reworded)
            self.notices += notices
            if self._agent is not None:
                edited.update(edits.as_edits_of_agent(self.vault, committed, edited, self._agent))
            adopted = edits.plan_adoption(self.vault, committed, edited, agent)
            moved = {pair: number for adoption in adopted for pair, number in adoption.moved.items()}
            if moved:
                from clawmem.vault.edits.hand_edits import add_old_path_aliases

                edited.update(add_old_path_aliases(self.vault, committed, edited, moved))
                adopted = edits.plan_adoption(self.vault, committed, edited, agent)
            names = self._write_commits([adoption.change for adoption in adopted], head)
            self.notices += edits.adoption_notices(self.vault, adopted, names, agent)
            self.notices += edits.flaw_notices(committed, edited)
        update_git_index(self.vault, (*good, *(path for path in edited if path not in good)), ())
        clear_pending(self.vault)

    def _write_commits(self, changes: Sequence[Change], head: Head) -> tuple[str, ...]:
        """Write the commits on top of `head`, for which the changes were made."""
        branch = head.needed_branch()
        paths = tuple(dict.fromkeys(path for change in changes for path in change.writes))
        pending = PendingCommit(head.commit, paths, changes[-1].subject, _consumed(changes))
        write_pending(self.vault, pending)
        try:
            signed = self.vault.settings.flag("git.sign") or any(change.signed for change in changes)
            write = self._import_signed if signed else self._import
            names = write(changes, branch, head.commit)
        except GitFailed as problem:
            names = self._after_failure(pending, head, problem)
        try:
            record_commits(self.vault, names, head.commit)
        except OSError as problem:
            self.notices.append(f"committed, but not recorded as made here: {problem}")
        self.base = head.commit
        return names

    def _import(self, changes: Sequence[Change], branch: str, parent: str | None) -> tuple[str, ...]:
        stream = import_stream(changes, branch, parent, int(self.now.timestamp()))
        is_small = sum(len(change.writes) for change in changes) <= SMALL_CHANGE
        importer = self.vault.git.start(*(WITHOUT_SYNC if is_small else ()), *_IMPORT)
        return tuple(self.vault.git.finish(importer, _IMPORT[0], stream).decode().split())

    def _import_signed(self, changes: Sequence[Change], branch: str, parent: str | None) -> tuple[str, ...]:
        delete_unsigned_ref(self.vault)
        return sign_commits(self.vault, self._import(changes, UNSIGNED_REF, parent), branch, parent)

    def _after_failure(self, pending: PendingCommit, head: Head, problem: GitFailed) -> tuple[str, ...]:
        """Return the commits if git moved the branch before it was killed. Otherwise raise."""
        clear_crash_reports(self.vault)
        if self.vault.head() != head:
            names = find_commits(self.vault, pending)
            if names:
                return names
            clear_pending(self.vault)
            raise ChangedMeanwhile(
                "Another git command moved the branch at the same moment; nothing was written.", "Try again."
            ) from problem
        clear_pending(self.vault)
        raise problem

    def refuse_unsafe(self, paths: Collection[str]) -> None:
        """Raise Refused, or what is wrong with a file, if one of the paths cannot be written."""
        for path in paths:
            obstacle = self.vault.obstacle(path)
            if obstacle is not None:
                raise Refused(f"{path} cannot be written: {obstacle}.", "Move that out of the way and try again.")
            if path in self.unreadable:
                raise self.unreadable[path]

    def _finish(self, changes: Sequence[Change], final: Mapping[str, bytes | None]) -> None:
        """Update the files. The commits are reachable, so the next command completes whatever fails here."""
        try:
            kept = [
                path
                for path, content in final.items()
                if not update_file(self.vault, path, self.read_set[path], content)
            ]
            self.notices += [f"kept your edit of {path}; the committed version is in HEAD" for path in kept]
            remove_consumed(self.vault, _consumed(changes))
        except OSError as problem:
            self._defer(problem)
            return
        # git's index is updated while the caller updates the search index.
        self._tail = Thread(target=self._complete, args=(tuple(final), kept))
        self._tail.start()

    def _complete(self, paths: Sequence[str], kept: Sequence[str]) -> None:
        try:
            update_git_index(self.vault, paths, kept)
            clear_pending(self.vault)
            unlock_index(self.vault)
        except (OSError, GitFailed) as problem:
            self._defer(problem)

    def _defer(self, problem: Exception) -> None:
        self.notices.append(f"committed, but the files could not be updated; the next command does that: {problem}")

    def wait(self) -> None:
        """Wait until git's index matches the last commit."""
        tail, self._tail = self._tail, None
        if tail is not None:
            tail.join()

    def end(self) -> None:
        """Wait for the last commit, and end a scan that was not needed."""
        self.wait()
        if self._scan is not None:
            self._scan.kill()
            self._scan.communicate()


def repeat_if_changed(act: Callable[[], _Result]) -> _Result:
    """Return the result of `act`, which is begun again each time that it raises ChangedMeanwhile, at most ten times."""
    for _ in range(_TRIES - 1):
        try:
            return act()
        except ChangedMeanwhile:
            continue
    return act()


@contextmanager
def transaction(
    vault: Vault,
    now: datetime,
    purpose: str,
    wait: float | None = None,
    caller: Caller | None = None,
) -> Iterator[Transaction]:
    """Take the writer lock and begin a transaction.

    `wait` in seconds defaults to `lock.wait_seconds`. Edits by hand belong to a `caller` that is an agent, and to the
    user of git otherwise.
    """
    if vault.present is not None:
        raise Refused(
            "A past version of the vault cannot be changed.", "`clawmem undo` reverts a change with a new commit."
        )
    vault.check_writable()
    if vault.settings.unread is not None:
        raise vault.settings.unread  # the settings may forbid this write
    limit = float(vault.settings.get("lock.wait_seconds")) if wait is None else wait
    with write_lock(vault, limit, purpose):
        started = Transaction(
            vault, now, purpose, caller if caller and caller.agent and not caller.unattended else None
        )
        try:
            started.begin()
            yield started
        except (Unreadable, ConflictMarkers) as problem:
            from clawmem.vault.edits.hand_edits import add_restore_hint

            add_restore_hint(vault, problem)
            raise
        finally:
            started.end()


def _refuse_large(changes: Sequence[Change]) -> None:
    """Raise Refused if a file would be beyond its limit, because nobody could read it then."""
    for path, data in (written for change in changes for written in change.writes.items()):
        if data is None or len(data) <= LOWEST_FILE_LIMIT:
            continue
        from clawmem.model.kinds import handling  # few files are large

        limit = handling(path).limit
        if len(data) > limit:
            text = beyond_limit(path, len(data), limit, "bytes")
            raise Refused(f"The change is too large: {text}.", "Divide it between several entities or days.")


def _consumed(changes: Sequence[Change]) -> tuple[str, ...]:
    return tuple(name for change in changes for name in change.consumes)


_SHOWN = 3


class DryRun(Transaction):
    """What a transaction would see, as of HEAD. Files edited by hand are named and not read."""

    def begin(self) -> None:
        """Find the files that differ from HEAD."""
        refuse_interrupted(self.vault)
        edited = finish_scan(self.vault, start_scan(self.vault))
        self._committed = self.vault.committed(edited)
        if edited:
            self.notices.append(
                f"{counted(len(edited), 'file')} edited by hand would be committed first,"
                f" which a dry run does not do: {some_of(edited, _SHOWN)}"
            )

    def read(self, path: str) -> bytes | None:
        """Return a file as of HEAD."""
        return self._committed[path] if path in self._committed else self.read_set.read(path)

    def adopt(self) -> HandEdits:
        """Return no edits: a dry run does not commit edits made by hand."""
        return HandEdits({}, ())

    def commit(self, changes: object, purpose: str | None = None) -> tuple[str, ...]:
        """Raise Refused, always."""
        raise Refused("A dry run writes nothing.", "Run the command without --dry-run.")
