"""Backup: the whole history in one file that can be checked, and is checked before it gets its name."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO, NamedTuple

from clawmem import __version__
from clawmem.errors import ClawmemError, DamagedBackup, GitFailed, InvalidInput, Locked, Refused
from clawmem.memory.backup.counts import counts_at
from clawmem.model.history.manifest import Manifest
from clawmem.model.language.dates import stamp
from clawmem.model.records.caller import Caller
from clawmem.vault.commit.transaction import transaction
from clawmem.vault.edits.scan import finish_scan, start_scan
from clawmem.vault.exchange.archive import BUNDLE, JOURNAL, measure_file, read_archive, write_archive
from clawmem.vault.exchange.bundle import check_objects, object_format, refs_by_name, tree_of, unbundle, write_bundle
from clawmem.vault.exchange.staging import Staging, staging
from clawmem.vault.state.journal import unfolded_accesses
from clawmem.vault.vault import Vault

_PIECE = 1 << 20


class BackupResult(NamedTuple):
    """What the backup holds, the bytes of the file, asides."""

    manifest: Manifest
    size: int
    notices: tuple[str, ...] = ()


def backup_to_file(vault: Vault, caller: Caller, target: Path, overwrite: bool = False) -> BackupResult:
    """Back up into a file, which appears whole and checked or not at all; Refused where it exists already, unless
    `overwrite`. Edits made by hand are committed first."""
    _check_target(target, overwrite)
    with staging(target) as work:
        made = _make(vault, caller, work)
        archive = work.folder / "archive"
        if overwrite:
            archive.replace(target)
        else:
            _put_new(archive, target)
    _sync_folder(target.parent)
    return made


def backup_to_stream(vault: Vault, caller: Caller, out: IO[bytes]) -> BackupResult:
    """Back up and, once it is whole and checked, write it out."""
    with staging(_passing()) as work:
        made = _make(vault, caller, work)
        with (work.folder / "archive").open("rb") as file:
            while piece := file.read(_PIECE):
                out.write(piece)
        out.flush()
    return made


def verify_backup(file: IO[bytes], environment: Mapping[str, str]) -> BackupResult:
    """Check a backup as restoring it would, and throw the result away; raises DamagedBackup saying what is wrong."""
    with staging(_passing()) as work:
        manifest, _ = rebuilt(file, work, environment)
    return BackupResult(manifest, file.seek(0, os.SEEK_END))


def rebuilt(file: IO[bytes], work: Staging, environment: Mapping[str, str]) -> tuple[Manifest, Vault]:
    """The vault of a backup below the staging folder, without its work tree: everything in the manifest is held
    against what git has. Raises DamagedBackup."""
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
        "refs": refs_by_name(vault.git),
        "branch": head.branch,
        "commit": head.commit,
    }
    _hold_against(manifest, found)
    # Only now is it known that the commit is there.
    _hold_against(manifest, {"tree": tree_of(vault.git, manifest.commit), "counts": counts_at(vault, manifest.commit)})


def _hold_against(manifest: Manifest, found: Mapping[str, object]) -> None:
    for name, value in found.items():
        if value != getattr(manifest, name):
            raise DamagedBackup(f"its {name} is not what its manifest says")


def _make(vault: Vault, caller: Caller, work: Staging) -> BackupResult:
    """Write the archive into the staging folder, and check what was written by reading it again."""
    notices, left_out = _adopt(vault, caller)
    vault.git.inherited_descriptors = (work.descriptor,)
    try:
        manifest = _pack(vault, caller, work.folder, left_out)
    finally:
        vault.git.inherited_descriptors = ()
    archive = work.folder / "archive"
    with staging(work.folder / "check") as again, archive.open("rb") as file:
        rebuilt(file, again, vault.git.environment)
    return BackupResult(manifest, archive.stat().st_size, notices)


def _pack(vault: Vault, caller: Caller, folder: Path, left_out: Mapping[str, str]) -> Manifest:
    bundle, journal = folder / BUNDLE, folder / JOURNAL
    branch = vault.head().branch
    # Writers go on meanwhile: what counts is what the bundle has, not where HEAD is by now.
    packed = write_bundle(vault, bundle)
    journal.write_bytes(unfolded_accesses(vault))
    parts = {BUNDLE: bundle, JOURNAL: journal}
    manifest = Manifest(
        made=stamp(caller.now),
        made_by=f"clawmem {__version__}",
        vault=_name(vault),
        object_format=object_format(vault.git),
        branch=branch,
        commit=packed.head,
        tree=tree_of(vault.git, packed.head),
        refs=packed.refs,
        counts=counts_at(vault, packed.head),
        members={name: measure_file(path) for name, path in parts.items()},
        left_out=left_out,
    )
    write_archive(folder / "archive", manifest, parts)
    return manifest


def _name(vault: Vault) -> str:
    try:
        return vault.settings.words("vault.name")
    except ClawmemError:
        return vault.root.name  # settings that cannot be read must not stand between a vault and its backup


def _adopt(vault: Vault, caller: Caller) -> tuple[tuple[str, ...], dict[str, str]]:
    """Take in what was edited by hand; what that is not possible for is named with its reason."""
    try:
        with transaction(vault, caller.now, "backup") as started:
            started.adopt()
            notices = tuple(one for one in started.notices if not one.startswith("left alone: "))
            return notices, {path: problem.message for path, problem in started.unreadable.items()}
    except Locked:
        raise
    except (ClawmemError, OSError) as problem:
        why = problem.message if isinstance(problem, ClawmemError) else f"{problem.strerror}."
        return (), dict.fromkeys(finish_scan(vault, start_scan(vault)), why)


def _check_target(target: Path, overwrite: bool) -> None:
    if target.is_dir():
        raise InvalidInput(f"{target} is a folder.", f"Name a file in it: {target / 'memory.clawmem'}.")
    if not target.parent.is_dir():
        raise InvalidInput(f"There is no folder {target.parent}.", "Make it first, or name another place.")
    if not overwrite:
        _refuse_existing(target, target.exists())


def _refuse_existing(target: Path, exists: bool) -> None:
    if exists:
        raise Refused(f"{target} exists already.", "Name another file, or say --force to replace it.")


def _put_new(archive: Path, target: Path) -> None:
    """Give the archive its name, unless somebody else took it meanwhile."""
    try:
        os.link(archive, target)
    except FileExistsError:
        _refuse_existing(target, exists=True)
    except OSError:
        # A file system without hard links: the moment between looking and renaming cannot be closed.
        _refuse_existing(target, target.exists())
        archive.rename(target)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _passing() -> Path:
    return Path(tempfile.gettempdir()) / "clawmem-backup"
