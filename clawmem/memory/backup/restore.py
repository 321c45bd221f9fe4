"""Restore: a backup becomes a vault in a new place, checked before and after, or nothing is left of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import IO, NamedTuple

from clawmem.errors import DamagedBackup, InvalidInput, Refused
from clawmem.memory.backup.backup import rebuilt
from clawmem.memory.health.checks.local_settings import CHECK as OWN_CHECK
from clawmem.memory.health.checks.problem import ERROR
from clawmem.memory.health.doctor import doctor
from clawmem.model.history.manifest import Manifest
from clawmem.model.language.text import counted
from clawmem.model.records.caller import Caller
from clawmem.vault.exchange.archive import JOURNAL as JOURNAL_PART
from clawmem.vault.exchange.create import refuse_nested
from clawmem.vault.exchange.staging import create_parents, staging
from clawmem.vault.git.acceptance import try_accept
from clawmem.vault.git.attributes import install_attributes
from clawmem.vault.state.journal import JOURNAL
from clawmem.vault.vault import Vault

# What the history itself cannot be the reason for: restoring went wrong.
_OF_THE_PLACE = frozenset(("git", "fsck", "index", "lock", "pending", "half-file", "unreadable", "altered", "config"))


class RestoreResult(NamedTuple):
    """The new vault's place, what the backup said it holds, how many errors doctor finds in what it holds."""

    root: Path
    manifest: Manifest
    errors: int
    notices: tuple[str, ...] = ()


def restore(
    file: IO[bytes], root: Path, caller: Caller, environment: Mapping[str, str], *, inside_repository: bool = False
) -> RestoreResult:
    """Make a vault at `root`, which must be empty or not exist yet. Raises DamagedBackup, and leaves nothing behind,
    where anything is not as it was backed up."""
    _check_place(root, inside_repository)
    with create_parents(root), staging(root) as work:
        manifest, vault = rebuilt(file, work, environment)
        _check_out(vault, manifest)
        _give_journal(vault, work.folder / JOURNAL_PART)
        errors = _examined(vault, caller)
        vault.git.inherited_descriptors = ()
        _put_in_place(vault.root, root)
    notices = [*try_accept(root / ".git", environment)]
    notices += [f"not in the backup: {path}: {why}" for path, why in manifest.left_out.items()]
    if errors:
        found = counted(errors, "error")
        notices.append(f"doctor finds {found} in what the vault holds, as it was backed up: run `clawmem doctor`")
    return RestoreResult(root, manifest, errors, tuple(notices))


def _check_out(vault: Vault, manifest: Manifest) -> None:
    vault.prepare_state()
    install_attributes(vault)
    vault.git.run("reset", "--quiet", "--hard", manifest.commit)


def _give_journal(vault: Vault, part: Path) -> None:
    data = part.read_bytes() if part.exists() else b""
    if data:
        vault.disk.replace(vault.state / JOURNAL, data, vault.state)


def _examined(vault: Vault, caller: Caller) -> int:
    """The errors that doctor finds in what the vault holds; raises DamagedBackup for any that restoring made."""
    found = [one for one in doctor(vault, caller).problems if one.severity == ERROR and one.check != OWN_CHECK]
    ours = [one for one in found if one.check in _OF_THE_PLACE and not _was_so(one.message)]
    if ours:
        raise DamagedBackup(f"doctor says of the restored vault: {ours[0].message.rstrip('.')}")
    return len(found)


def _was_so(message: str) -> bool:
    """A detached HEAD is restored as one."""
    return message.startswith("HEAD is detached")


def _check_place(root: Path, inside_repository: bool) -> None:
    if root.is_symlink() or (root.exists() and not root.is_dir()):
        raise InvalidInput(f"{root} is not a folder.", "Name a new place for the vault.")
    if root.is_dir() and any(root.iterdir()):
        raise Refused(f"{root} is not empty.", "A backup is restored into a new or empty folder only: name another.")
    if not inside_repository:
        refuse_nested(root)


def _put_in_place(made: Path, root: Path) -> None:
    try:
        made.rename(root)  # takes the place of an empty folder, and of nothing else
    except OSError as problem:
        raise Refused(f"{root} was taken meanwhile: {problem.strerror}.", "Name another place.") from problem
