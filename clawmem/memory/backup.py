"""Backup: write the whole history to one file. The file is verified before it gets its name.

Restore: create a vault from a backup. It is verified before and after; on an error nothing is left behind.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, NamedTuple

from clawmem import __version__
from clawmem.errors import ClawmemError, DamagedBackup, GitFailed, InvalidInput, Locked, Refused
from clawmem.memory.health.checks import ERROR
from clawmem.memory.health.checks.tree import LOCAL_SETTINGS as OWN_CHECK
from clawmem.memory.health.doctor import doctor
from clawmem.model.facts.codec import parse_items
from clawmem.model.history.entry import Manifest
from clawmem.model.kinds import ITEMS_FILE, LEDGER_DAY, file_kind
from clawmem.model.language.dates import stamp
from clawmem.model.language.text import counted
from clawmem.model.records.caller import Caller
from clawmem.model.records.entity import name_of_path
from clawmem.model.records.event import parse_events
from clawmem.platform.files import sync_to_disk
from clawmem.vault.commit.transaction import transaction
from clawmem.vault.exchange.create import (
    BUNDLE,
    check_objects,
    measure_file,
    object_format,
    read_archive,
    refuse_nested,
    tree_of,
    unbundle,
    write_archive,
    write_bundle,
)
from clawmem.vault.exchange.create import (
    JOURNAL as JOURNAL_PART,
)
from clawmem.vault.exchange.remote_process import Staging, create_parents, staging
from clawmem.vault.git.acceptance import accept, acceptance_notices
from clawmem.vault.git.merge_driver import install_attributes
from clawmem.vault.history.history import refs_by_name
from clawmem.vault.state.journal import JOURNAL, unfolded_accesses
from clawmem.vault.vault import Vault
from clawmem.vault.work_tree import finish_scan, start_scan

_READ_SIZE = 1 << 20
_BATCH_SIZE = 200


class BackupResult(NamedTuple):
    """The manifest of the backup, and the size of the file in bytes."""

    manifest: Manifest
    size: int
    notices: tuple[str, ...] = ()


def backup_to_file(vault: Vault, caller: Caller, target: Path, overwrite: bool = False) -> BackupResult:
    """Write a backup to a file. The file appears complete and verified, or not at all. Hand edits are committed first.

    Raise Refused if the file exists, unless `overwrite` is set."""
    _check_target(target, overwrite)
    with staging(target) as work:
        made = _make_archive(vault, caller, work)
        archive = work.folder / "archive"
        if overwrite:
            archive.replace(target)
        else:
            _link_new(archive, target)
    sync_to_disk(target.parent)
    return made


def backup_to_stream(vault: Vault, caller: Caller, out: IO[bytes]) -> BackupResult:
    """Make and verify a backup, then write it to a stream."""
    with staging(_temporary_target()) as work:
        made = _make_archive(vault, caller, work)
        with (work.folder / "archive").open("rb") as file:
            while piece := file.read(_READ_SIZE):
                out.write(piece)
        out.flush()
    return made


def verify_backup(file: IO[bytes], environment: Mapping[str, str]) -> BackupResult:
    """Check a backup by restoring it to a temporary folder. Raise DamagedBackup with the reason."""
    with staging(_temporary_target()) as work:
        manifest, _ = unpack_backup(file, work, environment)
    return BackupResult(manifest, file.seek(0, os.SEEK_END))


def unpack_backup(file: IO[bytes], work: Staging, environment: Mapping[str, str]) -> tuple[Manifest, Vault]:
    """Unpack a backup to a vault without a work tree in the staging folder.

    Everything in the manifest is compared with the repository. Raise DamagedBackup if anything differs."""
    manifest = read_archive(file, work.folder)
    root = work.folder / "vault"
    root.mkdir(mode=0o700)
    (root / ".git").mkdir(mode=0o700)
    vault = Vault(root, environment)
    vault.git = work.git(root, vault.git)
    unbundle(root, vault.git, work.folder / BUNDLE, manifest.object_format, manifest.branch, manifest.commit)
    check_objects(vault.git)
    _compare(vault, manifest)
    return manifest, vault


def _compare(vault: Vault, manifest: Manifest) -> None:
    try:
        head = vault.head()
    except GitFailed as problem:
        raise DamagedBackup(problem.message.rstrip(".")) from problem
    found = {
        "refs": refs_by_name(vault),
        "branch": head.branch,
        "commit": head.commit,
    }
    _check_equal(manifest, found)
    # The commit is known to exist only now.
    _check_equal(manifest, {"tree": tree_of(vault.git, manifest.commit), "counts": _counts_at(vault, manifest.commit)})


def _check_equal(manifest: Manifest, found: Mapping[str, object]) -> None:
    for name, value in found.items():
        if value != getattr(manifest, name):
            raise DamagedBackup(f"its {name} differs from its manifest")


def _make_archive(vault: Vault, caller: Caller, work: Staging) -> BackupResult:
    """Write the archive to the staging folder, and verify it by unpacking it again."""
    notices, left_out = _adopt_edits(vault, caller)
    vault.git.inherited_descriptors = (work.descriptor,)
    try:
        manifest = _pack(vault, caller, work.folder, left_out)
    finally:
        vault.git.inherited_descriptors = ()
    archive = work.folder / "archive"
    with staging(work.folder / "check") as again, archive.open("rb") as file:
        unpack_backup(file, again, vault.git.environment)
    return BackupResult(manifest, archive.stat().st_size, notices)


def _pack(vault: Vault, caller: Caller, folder: Path, left_out: Mapping[str, str]) -> Manifest:
    bundle, journal = folder / BUNDLE, folder / JOURNAL_PART
    branch = vault.head().branch
    # Writers may commit meanwhile: use the commit in the bundle, not the current HEAD.
    packed = write_bundle(vault, bundle)
    journal.write_bytes(unfolded_accesses(vault))
    parts = {BUNDLE: bundle, JOURNAL_PART: journal}
    manifest = Manifest(
        made=stamp(caller.now),
        made_by=f"clawmem {__version__}",
        vault=_vault_name(vault),
        object_format=object_format(vault.git),
        branch=branch,
        commit=packed.head,
        tree=tree_of(vault.git, packed.head),
        refs=packed.refs,
        counts=_counts_at(vault, packed.head),
        members={name: measure_file(path) for name, path in parts.items()},
        left_out=left_out,
    )
    write_archive(folder / "archive", manifest, parts)
    return manifest


def _vault_name(vault: Vault) -> str:
    try:
        return vault.settings.words("vault.name")
    except ClawmemError:
        return vault.root.name  # unreadable settings must not prevent a backup


def _adopt_edits(vault: Vault, caller: Caller) -> tuple[tuple[str, ...], dict[str, str]]:
    """Commit the hand edits. Return notices, and the files that could not be committed with the reason."""
    try:
        with transaction(vault, caller.now, "backup", caller=caller) as txn:
            txn.adopt()
            notices = tuple(notice for notice in txn.notices if not notice.startswith("left alone: "))
            return notices, {path: problem.message for path, problem in txn.unreadable.items()}
    except Locked:
        raise
    except (ClawmemError, OSError) as problem:
        why = problem.message if isinstance(problem, ClawmemError) else f"{problem.strerror}."
        return (), dict.fromkeys(finish_scan(vault, start_scan(vault)), why)


def _check_target(target: Path, overwrite: bool) -> None:
    if target.is_dir():
        raise InvalidInput(f"{target} is a folder.", f"Name a file in it: {target / 'memory.clawmem'}.")
    if not target.parent.is_dir():
        raise InvalidInput(f"There is no folder {target.parent}.", "Create it first, or name another place.")
    if not overwrite:
        _refuse_existing(target, target.exists())


def _refuse_existing(target: Path, exists: bool) -> None:
    if exists:
        raise Refused(f"{target} already exists.", "Name another file, or use --force to replace it.")


def _link_new(archive: Path, target: Path) -> None:
    """Move the archive to its final name, unless that exists by now."""
    try:
        os.link(archive, target)
    except FileExistsError:
        _refuse_existing(target, exists=True)
    except OSError:
        # Without hard links, the check and the rename are not atomic.
        _refuse_existing(target, target.exists())
        archive.rename(target)


def _temporary_target() -> Path:
    return Path(tempfile.gettempdir()) / "clawmem-backup"


def _counts_at(vault: Vault, commit: str) -> dict[str, int]:
    """Return the numbers of facts, events, entities, files, commits and unreadable files. Runs git."""
    paths = vault.files_at(commit)
    counts = {"facts": 0, "events": 0, "entities": 0, "files": len(paths), "commits": 0, "unreadable": 0}
    counts["entities"] = len({name for path in paths if (name := name_of_path(path))})
    counts["commits"] = int(vault.git.run("rev-list", "--count", commit))
    telling = [path for path in paths if file_kind(path) in (LEDGER_DAY, ITEMS_FILE)]
    for start in range(0, len(telling), _BATCH_SIZE):
        for path, data in vault.contents_at(commit, telling[start : start + _BATCH_SIZE]).items():
            _count_records(path, data or b"", counts)
    return counts


def _count_records(path: str, data: bytes, counts: dict[str, int]) -> None:
    try:
        if file_kind(path) is LEDGER_DAY:
            counts["events"] += len(parse_events(data, path))
        else:
            counts["facts"] += len(parse_items(data, path))
    except ClawmemError:
        counts["unreadable"] += 1


# Findings of these checks cannot come from the history: they mean that the restore failed.
_RESTORE_CHECKS = frozenset(("git", "fsck", "index", "lock", "pending", "half-file", "unreadable", "altered", "config"))


class RestoreResult(NamedTuple):
    """The root of the new vault, the manifest of the backup, and the number of errors that doctor finds."""

    root: Path
    manifest: Manifest
    errors: int
    notices: tuple[str, ...] = ()


def restore(
    file: IO[bytes], root: Path, caller: Caller, environment: Mapping[str, str], *, inside_repository: bool = False
) -> RestoreResult:
    """Create a vault at `root`, which must be an empty folder or not exist.

    Where a person restores it, it is recorded as accepted. Raise DamagedBackup if anything differs from the backup.
    Nothing is left behind then."""
    _check_place(root, inside_repository)
    with create_parents(root), staging(root) as work:
        manifest, vault = unpack_backup(file, work, environment)
        _check_out(vault, manifest)
        _restore_journal(vault, work.folder / JOURNAL_PART)
        errors = _count_errors(vault, caller)
        vault.git.inherited_descriptors = ()
        _put_in_place(vault.root, root)
    if caller.agent is None:
        with suppress(OSError):
            accept(root / ".git", environment)
    notices = [*acceptance_notices(root / ".git", environment)]
    notices += [f"not in the backup: {path}: {why}" for path, why in manifest.left_out.items()]
    if errors:
        found = counted(errors, "error")
        notices.append(f"doctor finds {found}, which the original vault had too: run `clawmem doctor`")
    return RestoreResult(root, manifest, errors, tuple(notices))


def _check_out(vault: Vault, manifest: Manifest) -> None:
    vault.prepare_state()
    install_attributes(vault)
    vault.git.run("reset", "--quiet", "--hard", manifest.commit)


def _restore_journal(vault: Vault, part: Path) -> None:
    data = part.read_bytes() if part.exists() else b""
    if data:
        vault.disk.replace(vault.state / JOURNAL, data, vault.state)


def _count_errors(vault: Vault, caller: Caller) -> int:
    """Return the number of errors that doctor finds. Raise DamagedBackup for an error that the restore made."""
    found = [
        problem
        for problem in doctor(vault, caller).problems
        if problem.severity == ERROR and problem.check != OWN_CHECK
    ]
    ours = [
        problem
        for problem in found
        if problem.check in _RESTORE_CHECKS and not problem.message.startswith("HEAD is detached")
    ]
    if ours:
        raise DamagedBackup(f"doctor finds in the restored vault: {ours[0].message.rstrip('.')}")
    return len(found)


def _check_place(root: Path, inside_repository: bool) -> None:
    if root.is_symlink() or (root.exists() and not root.is_dir()):
        raise InvalidInput(f"{root} is not a folder.", "Name a new place for the vault.")
    if root.is_dir() and any(root.iterdir()):
        raise Refused(f"{root} is not empty.", "Name a new or empty folder.")
    if not inside_repository:
        refuse_nested(root)


def _put_in_place(made: Path, root: Path) -> None:
    try:
        made.rename(root)  # replaces an empty folder, and nothing else
    except OSError as problem:
        raise Refused(f"{root} was created meanwhile: {problem.strerror}.", "Name another place.") from problem
