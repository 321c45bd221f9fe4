"""Restore: create a vault from a backup. It is verified before and after; on an error nothing is left behind."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, NamedTuple

from clawmem.errors import DamagedBackup, InvalidInput, Refused
from clawmem.memory.backup.backup import unpack_backup
from clawmem.memory.health.checks.problem import ERROR
from clawmem.memory.health.checks.repository import LOCAL_SETTINGS as OWN_CHECK
from clawmem.memory.health.doctor import doctor
from clawmem.model.history.entry import Manifest
from clawmem.model.language.text import counted
from clawmem.model.records.caller import Caller
from clawmem.vault.exchange.create import JOURNAL as JOURNAL_PART
from clawmem.vault.exchange.create import refuse_nested
from clawmem.vault.exchange.remote_process import create_parents, staging
from clawmem.vault.git.acceptance import accept, acceptance_notices
from clawmem.vault.git.attributes import install_attributes
from clawmem.vault.state.journal import JOURNAL
from clawmem.vault.vault import Vault

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
