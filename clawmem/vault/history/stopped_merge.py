"""A git merge that stopped half way: what git left in the files, and how the vault is brought out of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

from clawmem.errors import GitFailed, Locked, NeedsDecision
from clawmem.model.records.layout import SETTINGS
from clawmem.model.settings.settings import settings_from_mapping
from clawmem.vault.commit.pending import finish_pending, locked_index
from clawmem.vault.git.attributes import install_attributes
from clawmem.vault.git.index import replace_index
from clawmem.vault.git.stale_locks import clear_stale_locks, remove_partial_files
from clawmem.vault.history.merge_commit import DROP_MERGE_REF
from clawmem.vault.history.versions import diff_commits, read_versions, resolve_ref
from clawmem.vault.lock import writer_lock
from clawmem.vault.state.local_settings import effective_settings
from clawmem.vault.strict_yaml import parse_yaml
from clawmem.vault.vault import Vault
from clawmem.vault.work_tree import update_file

_STAGES = (0, 2, 3)


class StoppedMerge(NamedTuple):
    """The two commits of the merge; the files that differ, as they stand in the work tree; and for each what git itself
    may have put there: a side's version, or what it merged cleanly."""

    ours: str
    theirs: str
    files: Mapping[str, bytes | None]
    known: Mapping[str, tuple[bytes | None, ...]]


@contextmanager
def stopped_merge(vault: Vault) -> Iterator[StoppedMerge | None]:
    """Hold the vault while a stopped merge is finished; None where there is none."""
    vault.prepare_state()
    _with_readable_settings(vault)
    wait = vault.settings.number("lock.wait_seconds")
    with writer_lock(vault.state / "lock", wait, "finish a merge") as descriptor:
        vault.git.inherited_descriptors = (descriptor,)
        try:
            clear_stale_locks(vault)
            remove_partial_files(vault)
            install_attributes(vault)
            finish_pending(vault)
            yield _stopped(vault)
        finally:
            vault.git.inherited_descriptors = ()


def _with_readable_settings(vault: Vault) -> None:
    """Take the committed settings where the merge stopped in them."""
    if vault.vault_settings.unread is not None or vault.vault_settings.wrong:
        data = (vault.contents_at("HEAD", [SETTINGS])[SETTINGS] or b"").decode(errors="replace")
        vault.vault_settings = settings_from_mapping(parse_yaml(data, SETTINGS) or {})
        vault.settings = effective_settings(vault, vault.vault_settings)


def _stopped(vault: Vault) -> StoppedMerge | None:
    note = vault.disk.read(vault.git_dir / "MERGE_HEAD")
    if note is None:
        return None
    heads = note.decode().split()
    ours, theirs = vault.head().commit, resolve_ref(vault, heads[0])
    if len(heads) != 1 or ours is None or theirs is None:
        raise NeedsDecision(
            "The git merge that is unfinished here is not one of two histories.", "Drop it with `git merge --abort`."
        )
    changed = diff_commits(vault, ours, ours, theirs)
    paths = sorted(changed.paths | set(_staged(vault, ours)))
    held = [side[path] for side in (changed.base, changed.theirs) for path in paths if path in side]
    data = read_versions(vault, held)
    # Where both sides moved a file, what git merged of it stands among the stages of both new names.
    merged = vault.git.read_blobs(f":{stage}:{path}" for path in paths for stage in _STAGES)
    known = {
        path: (
            *(data[side[path].blob] if path in side else None for side in (changed.base, changed.theirs)),
            *(merged[f":{stage}:{path}"] for stage in _STAGES),
        )
        for path in paths
    }
    return StoppedMerge(ours, theirs, {path: vault.read(path) for path in paths if _is_plain(vault, path)}, known)


def _staged(vault: Vault, ours: str) -> list[str]:
    """What differs from our side in git's index or the work tree."""
    printed = vault.git.run("diff-index", "-z", "--name-only", ours).decode(errors="surrogateescape")
    return [path for path in printed.split("\0") if path]


def _is_plain(vault: Vault, path: str) -> bool:
    return vault.obstacle(path) is None


def complete_merge(vault: Vault, stopped: StoppedMerge, target: str, replaced: Mapping[str, bytes | None]) -> None:
    """Move the branch to the merge commit, put its files in place of what git left (`replaced`), and forget the merge.

    A crash on the way leaves the merge unfinished, with the commit in the branch or not; finishing it again ends well.
    """
    head = vault.head()
    if head.branch is None:
        raise NeedsDecision("HEAD is detached.", "Return to the branch with `git switch main`, or `git merge --abort`.")
    with locked_index(vault):
        if target != head.commit:
            try:
                lines = f"update {head.branch} {target} {stopped.ours}\n{DROP_MERGE_REF}"
                vault.git.run("update-ref", "--stdin", "-m", "clawmem: finished a merge", stdin=lines.encode())
            except GitFailed as problem:
                raise Locked("Another git command moved the branch at the same moment.", "Try again.") from problem
        for path, data in vault.contents_at(target, replaced).items():
            update_file(vault, path, replaced[path], data)
        with replace_index(vault):
            vault.git.run("read-tree", "--reset", target)
            vault.git.try_run("update-index", "-q", "--refresh")
        vault.git.run("merge", "--quit")
