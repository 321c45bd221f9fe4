"""Merging histories: create a merge commit, then move the branch to it and update the files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from clawmem.errors import ChangedMeanwhile, GitFailed
from clawmem.model.records.change import Change, commit_message
from clawmem.vault.commit.fast_import import CLAWMEM_AUTHOR, commit_lines, commit_signed, data_block, quoted_path
from clawmem.vault.commit.pending import (
    PendingCommit,
    clear_pending,
    locked_index,
    run_with_paths,
    update_git_index,
    write_pending,
)
from clawmem.vault.commit.transaction import SMALL_CHANGE, WITHOUT_SYNC, Transaction
from clawmem.vault.git.index import clear_crash_reports, replace_index
from clawmem.vault.history.history import REGULAR_MODE, FileVersion, Versions, diff_commits, read_versions
from clawmem.vault.vault import Vault
from clawmem.vault.work_tree import update_file

# Merge commits are created on this ref first.
_MERGE_REF = "refs/clawmem/joined"
# A merge of what clones had in the past is created on this one, which no branch follows.
PAST_REF = "refs/clawmem/past"
DROP_MERGE_REF = f"delete {_MERGE_REF}\n"
# By force, because a killed run may have left the ref behind.
_IMPORT = ("fast-import", "--quiet", "--force", "--done")
_BATCH = 500
Entries = Mapping[str, bytes | FileVersion | None]
"""Changes to the tree of the first parent: new contents, a file of another commit, or None to delete it."""


def write_merge(
    vault: Vault, parents: Sequence[str], change: Change, entries: Entries, seconds: int, ref: str = _MERGE_REF
) -> str:
    """Create a merge commit and return its name. No branch moves.

    The tree is that of the first parent with `entries` changed. `change` gives the message and the author. Delete the
    temporary ref, `_MERGE_REF` with `DROP_MERGE_REF` when the branch moves. On `PAST_REF` it is never signed.
    """
    try:
        stream = _stream(parents, change, entries, seconds, ref)
        importer = vault.git.start(*(WITHOUT_SYNC if len(entries) <= SMALL_CHANGE else ()), *_IMPORT)
        made = vault.git.finish(importer, _IMPORT[0], stream).decode().strip()
        if ref == PAST_REF or not vault.settings.flag("git.sign"):
            return made
        author, tree = change.author or CLAWMEM_AUTHOR, f"{made}^{{tree}}"
        return commit_signed(vault, author, str(seconds), tree, parents, commit_message(change))
    except GitFailed:
        clear_crash_reports(vault)
        vault.git.try_run("update-ref", "-d", ref)
        raise


def _stream(parents: Sequence[str], change: Change, entries: Entries, seconds: int, ref: str) -> bytes:
    parts = [b"feature done\n", commit_lines(change, 1, ref, parents, seconds)]
    for path in sorted(entries, key=lambda path: (entries[path] is not None, path)):
        entry = entries[path]
        if entry is None:
            parts.append(b"D " + quoted_path(path) + b"\n")
        elif isinstance(entry, FileVersion):
            parts.append(f"M {entry.mode} {entry.blob} ".encode() + quoted_path(path) + b"\n")
        else:
            parts += [f"M {REGULAR_MODE} inline ".encode() + quoted_path(path) + b"\n", data_block(entry)]
    parts.append(b"get-mark :1\ndone\n")
    return b"".join(parts)


def fast_forward(started: Transaction, base: str, target: str, subject: str, along: str = "") -> FileStates | None:
    """Move the branch from `base` to a commit that contains it, and update the files, all or nothing.

    `base` is the commit that the caller has merged. `along` are lines for `git update-ref --stdin` that move other refs
    in the same step. Return the changed files, or None if there are more than a few hundred, or some are not regular
    files.

    Edits made by hand must have been committed. Raise Refused if HEAD is detached or a file cannot be written, and
    ChangedMeanwhile if the branch is no longer at `base` or a file was edited.
    """
    vault = started.vault
    started.wait()
    changed = diff_commits(vault, base, base, target)
    plain = sorted(
        path for path in changed.paths if all(_is_plain(side, path) for side in (changed.base, changed.theirs))
    )
    states = _by_batch(vault, changed, plain)
    with locked_index(vault):
        branch = _branch_at(vault, base)
        started.refuse_unsafe(plain)
        _refuse_edited(vault, states())
        write_pending(vault, PendingCommit(base, tuple(plain), subject, ()))
        try:
            lines = f"update {branch} {target} {base}\n{along}"
            vault.git.run("update-ref", "--stdin", "-m", f"clawmem: {subject}", stdin=lines.encode())
        except GitFailed as problem:
            _check_moved(vault, base, target, problem)
        _update_files(started, plain, states())
        _update_other_files(vault, changed, sorted(changed.paths - set(plain)))
    return next(states(), None) if len(plain) == len(changed.paths) <= _BATCH else None


class FileStates(NamedTuple):
    """Some files before and after a change; None for a file that does not exist."""

    old: Mapping[str, bytes | None]
    new: Mapping[str, bytes | None]


def _by_batch(vault: Vault, changed: Versions, paths: Sequence[str]) -> Callable[[], Iterator[FileStates]]:
    """Return a function that reads the changed files in batches. If there is only one, git is asked only once."""
    batches = [tuple(paths[start : start + _BATCH]) for start in range(0, len(paths), _BATCH)]
    sides = (changed.base, changed.theirs)

    @lru_cache(maxsize=1)
    def read(batch: tuple[str, ...]) -> FileStates:
        data = read_versions(vault, ((path, side[path]) for side in sides for path in batch if path in side))
        return FileStates(
            *({path: data[side[path].blob] if path in side else None for path in batch} for side in sides)
        )

    return lambda: map(read, batches)


def _branch_at(vault: Vault, base: str) -> str:
    """Return the branch of HEAD. Raise Refused if there is none, and ChangedMeanwhile if it is not at `base`."""
    head = vault.head()
    branch = head.needed_branch()
    if head.commit != base:
        raise ChangedMeanwhile("Another git command moved the branch at the same moment.", "Try again.")
    return branch


def _check_moved(vault: Vault, base: str, target: str, problem: GitFailed) -> None:
    """Raise unless git moved the branch before it failed, as a killed git may have done."""
    if vault.head().commit == target:
        return
    clear_pending(vault)
    _branch_at(vault, base)
    raise problem


def _is_plain(side: Mapping[str, FileVersion], path: str) -> bool:
    return "\\" not in path and (path not in side or side[path].mode == REGULAR_MODE)


def _refuse_edited(vault: Vault, batches: Iterator[FileStates]) -> None:
    for batch in batches:
        for path, old in batch.old.items():
            if vault.read(path) != old:
                raise ChangedMeanwhile(
                    f"{path} differs from what was committed and would be overwritten; nothing was changed.",
                    "Commit it with git, or move it away, then run the command again.",
                )


def _update_files(started: Transaction, paths: Sequence[str], batches: Iterator[FileStates]) -> None:
    """Update the files. The branch has moved, so the next command completes whatever fails here."""
    vault = started.vault
    kept: list[str] = []
    try:
        for batch in batches:
            kept += [path for path, old in batch.old.items() if not update_file(vault, path, old, batch.new[path])]
        update_git_index(vault, paths, kept)
        clear_pending(vault)
    except (OSError, GitFailed) as problem:
        started.notices.append(f"merged, but the files could not be updated; the next command does that: {problem}")
        return
    started.notices += [f"kept your edit of {path}; the merged version is in HEAD" for path in kept]


def _update_other_files(vault: Vault, changed: Versions, paths: Sequence[str]) -> None:
    """Let git update links and executables that nobody changed, because they are not clawmem's."""
    if not paths:
        return
    changed_files = vault.git.run("diff-files", "-z", "--name-only").decode(errors="surrogateescape").split("\0")
    unchanged = [
        path
        for path in paths
        if path not in changed_files and (path in changed.base or not os.path.lexists(vault.root / path))
    ]
    commands = (
        (("checkout", "--quiet", "HEAD"), [path for path in unchanged if path in changed.theirs]),
        (("rm", "--quiet", "--force"), [path for path in unchanged if path not in changed.theirs]),
        (("reset", "--quiet", "HEAD"), sorted(set(paths) - set(unchanged))),
    )
    with replace_index(vault):
        for command, some in commands:
            run_with_paths(vault, some, *command)
