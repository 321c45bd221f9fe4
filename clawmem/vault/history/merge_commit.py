"""Joining histories: a merge commit made beside the branch, then the branch moved to it and the files brought along."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from clawmem.errors import GitFailed, Locked, Refused
from clawmem.model.records.change import Change, commit_message
from clawmem.vault.commit.fast_import import TOOL, data_block, identity_line, quoted_path
from clawmem.vault.commit.pending import PendingCommit, bring, clear_pending, held_index, sync_index, write_pending
from clawmem.vault.commit.signing import commit_signed
from clawmem.vault.commit.stale_locks import clear_crash_reports
from clawmem.vault.commit.transaction import Transaction
from clawmem.vault.git.index import new_index
from clawmem.vault.git.refs import Head
from clawmem.vault.history.versions import PLAIN, FileVersion, Versions, contents, versions
from clawmem.vault.vault import Vault

# Merge commits are made here first, where nobody looks.
_JOINED = "refs/clawmem/joined"
DROP_JOINED = f"delete {_JOINED}\n"
# By force, as a killed run may have left something there.
_IMPORT = ("fast-import", "--quiet", "--force", "--done")
_BATCH = 500
# A merge this small is kept as loose objects, which git by default does not wait for the disk for: then the pack it
# writes on the way there need not be waited for either.
_FEW, _UNWAITED = 12, ("-c", "core.fsync=reference")
Entries = Mapping[str, bytes | FileVersion | None]
"""What a merge changes on its first parent: new contents, a file as another commit holds it, or its end."""


def write_merge(vault: Vault, parents: Sequence[str], change: Change, entries: Entries, seconds: int) -> str:
    """Make a commit of two histories, its tree that of the first with the entries changed; returns its name. No branch
    moves; `DROP_JOINED` goes along when one does. `change` gives the words and the author."""
    try:
        given = _stream(parents, change, entries, seconds)
        importer = vault.git.start(*(_UNWAITED if len(entries) <= _FEW else ()), *_IMPORT)
        made = vault.git.finish(importer, _IMPORT[0], given).decode().strip()
        return _signed(vault, made, parents, change, seconds) if vault.settings.flag("git.sign") else made
    except GitFailed:
        clear_crash_reports(vault)
        vault.git.try_run("update-ref", "-d", _JOINED)
        raise


def _stream(parents: Sequence[str], change: Change, entries: Entries, seconds: int) -> bytes:
    parts = [f"feature done\ncommit {_JOINED}\nmark :1\n".encode()]
    parts.append(identity_line("author", change.author or TOOL, seconds))
    parts.append(identity_line("committer", TOOL, seconds))
    parts.append(data_block(commit_message(change).encode()))
    parts.append(f"from {parents[0]}\n".encode())
    parts += [f"merge {parent}\n".encode() for parent in parents[1:]]
    for path in sorted(entries, key=lambda path: (entries[path] is not None, path)):
        held = entries[path]
        if held is None:
            parts.append(b"D " + quoted_path(path) + b"\n")
        elif isinstance(held, FileVersion):
            parts.append(f"M {held.mode} {held.blob} ".encode() + quoted_path(path) + b"\n")
        else:
            parts += [f"M {PLAIN} inline ".encode() + quoted_path(path) + b"\n", data_block(held)]
    parts.append(b"get-mark :1\ndone\n")
    return b"".join(parts)


def _signed(vault: Vault, made: str, parents: Sequence[str], change: Change, seconds: int) -> str:
    author = change.author or TOOL
    identity = {
        "GIT_AUTHOR_NAME": author.name,
        "GIT_AUTHOR_EMAIL": author.email,
        "GIT_AUTHOR_DATE": f"{seconds} +0000",
        "GIT_COMMITTER_NAME": TOOL.name,
        "GIT_COMMITTER_EMAIL": TOOL.email,
        "GIT_COMMITTER_DATE": f"{seconds} +0000",
    }
    named = [part for parent in parents for part in ("-p", parent)]
    return commit_signed(vault, identity, (f"{made}^{{tree}}", *named), commit_message(change).encode())


def advance(started: Transaction, target: str, subject: str, along: str = "") -> FileStates | None:
    """Move the branch to a commit that holds its history, and bring the files along; all or nothing, as any change.
    `along` are lines for `git update-ref --stdin` about other refs, which move in the same step. Returns what has
    changed, or None where that is more than a few hundred files, or some are no plain ones.

    Edits made by hand must have been taken in. Raises Refused where HEAD is on no branch or a file cannot be written,
    Locked where one was edited at this moment.
    """
    vault = started.vault
    started.wait()
    head = vault.head()
    if head.branch is None or head.commit is None:
        raise Refused(
            "HEAD is detached: what is merged now would belong to no branch.",
            "Return to the branch with `git switch main`, then run the command again.",
        )
    changed = versions(vault, head.commit, head.commit, target)
    plain = sorted(
        path for path in changed.paths if all(_is_plain(side, path) for side in (changed.base, changed.theirs))
    )
    looks = _FileStatesByBatch(vault, changed, plain)
    with held_index(vault):
        _refuse_unsafe(started, plain, looks)
        write_pending(vault, PendingCommit(head.commit, tuple(plain), subject, ()))
        try:
            lines = f"update {head.branch} {target} {head.commit}\n{along}"
            vault.git.run("update-ref", "--stdin", "-m", f"clawmem: {subject}", given=lines.encode())
        except GitFailed as problem:
            _check_moved(vault, head, target, problem)
        _follow(started, plain, looks)
        _follow_others(vault, changed, sorted(changed.paths - set(plain)))
    return looks.whole() if len(plain) == len(changed.paths) else None


class FileStates(NamedTuple):
    """Some files as they were and as they will be; None where there is none."""

    old: Mapping[str, bytes | None]
    new: Mapping[str, bytes | None]


class _FileStatesByBatch:
    """All files that change, some at a time; where one look shows all of them, git is asked once."""

    def __init__(self, vault: Vault, changed: Versions, paths: Sequence[str]) -> None:
        self._vault = vault
        self._changed = changed
        self._batches = [paths[start : start + _BATCH] for start in range(0, len(paths), _BATCH)]
        self._only: FileStates | None = None

    def __iter__(self) -> Iterator[FileStates]:
        if self._only is not None:
            yield self._only
            return
        for batch in self._batches:
            look = self._look(batch)
            self._only = look if len(self._batches) == 1 else None
            yield look

    def whole(self) -> FileStates | None:
        """All of them, or None where they are too many to be kept."""
        return self._only

    def _look(self, paths: Sequence[str]) -> FileStates:
        sides = (self._changed.base, self._changed.theirs)
        data = contents(self._vault, (side[path] for side in sides for path in paths if path in side))
        return FileStates(
            *({path: data[side[path].blob] if path in side else None for path in paths} for side in sides)
        )


def _check_moved(vault: Vault, head: Head, target: str, problem: GitFailed) -> None:
    """A git that was killed may have moved the branch before it died: then all is well."""
    now = vault.head()
    if now.commit == target:
        return
    clear_pending(vault)
    if now != head:
        raise Locked("Another git command moved the branch at the same moment.", "Try again.") from problem
    raise problem


def _is_plain(side: Mapping[str, FileVersion], path: str) -> bool:
    return "\\" not in path and (path not in side or side[path].mode == PLAIN)


def _refuse_unsafe(started: Transaction, paths: Sequence[str], looks: _FileStatesByBatch) -> None:
    vault = started.vault
    for path in paths:
        obstacle = vault.obstacle(path)
        if obstacle is not None:
            raise Refused(f"{path} cannot be written: {obstacle}.", "Move that out of the way and try again.")
        if path in started.unreadable:
            raise started.unreadable[path]
    for look in looks:
        for path, old in look.old.items():
            if vault.read(path) != old:
                raise Locked(
                    f"{path} is not what was committed, and would be overwritten; nothing was changed.",
                    "Commit it with git, or move it away, then run the command again.",
                )


def _follow(started: Transaction, paths: Sequence[str], looks: _FileStatesByBatch) -> None:
    """The branch has moved: whatever fails from here on, the next command completes."""
    vault = started.vault
    kept: list[str] = []
    try:
        for look in looks:
            kept += [path for path, old in look.old.items() if not bring(vault, path, old, look.new[path])]
        sync_index(vault, paths, kept)
        clear_pending(vault)
    except (OSError, GitFailed) as problem:
        started.notices.append(f"merged; the next command puts the files in place, which failed now: {problem}")
        return
    started.notices += [f"kept your edit of {path}; the merged version is in HEAD" for path in kept]


def _follow_others(vault: Vault, changed: Versions, paths: Sequence[str]) -> None:
    """Links and programs are not clawmem's: git itself puts them in place, where nobody changed them."""
    if not paths:
        return
    with new_index(vault):
        _put_in_place(vault, changed, paths)


def _put_in_place(vault: Vault, changed: Versions, paths: Sequence[str]) -> None:
    touched = vault.git.run("diff-files", "-z", "--name-only").decode(errors="surrogateescape").split("\0")
    untouched = [
        path
        for path in paths
        if path not in touched and (path in changed.base or not os.path.lexists(vault.root / path))
    ]
    _with_paths(vault, [path for path in untouched if path in changed.theirs], "checkout", "--quiet", "HEAD")
    _with_paths(vault, [path for path in untouched if path not in changed.theirs], "rm", "--quiet", "--force")
    _with_paths(vault, sorted(set(paths) - set(untouched)), "reset", "--quiet", "HEAD")


def _with_paths(vault: Vault, paths: Sequence[str], *command: str) -> None:
    if paths:
        names = "".join(f":(literal){path}\0" for path in paths).encode(errors="surrogateescape")
        vault.git.run(*command, "--pathspec-from-file=-", "--pathspec-file-nul", given=names)
