"""A git merge that stopped at a conflict: what git left in the files, and how the merge is completed."""

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
    """The two commits of the merge and the files that differ.

    `files` are their contents in the work tree. `known` are the contents that git itself may have written: the version
    of a side, or a clean merge.
    """

    ours: str
    theirs: str
    files: Mapping[str, bytes | None]
    known: Mapping[str, tuple[bytes | None, ...]]


@contextmanager
def stopped_merge(vault: Vault) -> Iterator[StoppedMerge | None]:
    """Lock the vault while a stopped merge is completed. Yields None if there is none."""
    vault.check_writable()
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
    """Use the settings of HEAD if the merge stopped in the settings file."""
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
            "The unfinished git merge here does not have two parents.", "Cancel it with `git merge --abort`."
        )
    changed = diff_commits(vault, ours, ours, theirs)
    paths = sorted(changed.paths | set(_staged(vault, ours)))
    file_versions = [(path, side[path]) for side in (changed.base, changed.theirs) for path in paths if path in side]
    data = read_versions(vault, file_versions)
    # If both sides renamed a file, git's merge of it is among the stages of both new names.
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
    """Return the files that differ from our side in git's index or the work tree."""
    printed = vault.git.run("diff-index", "-z", "--name-only", ours).decode(errors="surrogateescape")
    return [path for path in printed.split("\0") if path]


def _is_plain(vault: Vault, path: str) -> bool:
    return vault.obstacle(path) is None


def complete_merge(vault: Vault, stopped: StoppedMerge, target: str, replaced: Mapping[str, bytes | None]) -> None:
    """Move the branch to the merge commit, replace the files that git left (`replaced`), and end the merge.

    A crash leaves the merge unfinished, with the commit in the branch or not. Completing it again works in both cases.
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
