"""Which vaults the user has accepted on this machine: a record in the user's configuration folder, outside every vault.

Settings with effects outside the vault, and git configuration that runs a program, apply only in an accepted vault. A
vault that clawmem created or restored here is accepted. A copied, unpacked or cloned vault is not, until the user runs
`clawmem config trust`. The record contains the real path and the inode of the git folder, and a token that is stored in
it. So a copy at another path is not accepted, and neither is another folder at the same path, even if it gets the same
inode. A folder that was renamed or moved on its disk is still accepted, if nothing is at its former path. A repository
or an archive cannot carry the record, because it is outside of them.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from clawmem.errors import Refused
from clawmem.vault.disk import Disk, writer_lock
from clawmem.vault.git.refs import git_dir_of

RECORD = "vaults.json"
STATE, TOKEN = "clawmem", "accepted"
_MAX_TOKEN_BYTES = 100
_WAIT = 10.0


def user_folder(environment: Mapping[str, str]) -> Path:
    """Return the folder of the user's configuration: `$XDG_CONFIG_HOME/clawmem`, else `~/.config/clawmem`."""
    base = environment.get("XDG_CONFIG_HOME", "")
    if os.path.isabs(base):  # noqa: PTH117 - the XDG specification ignores relative paths
        return Path(base) / "clawmem"
    home = environment.get("HOME", "")
    if os.path.isabs(home):  # noqa: PTH117 - a relative path would depend on the working directory
        return Path(home) / ".config" / "clawmem"
    try:
        return Path.home() / ".config" / "clawmem"
    except RuntimeError:  # the user has no home folder
        return Path(os.sep) / ".config" / "clawmem"


def is_accepted(git_dir: Path, environment: Mapping[str, str]) -> bool:
    """Return whether the user accepted the vault of this git folder here, or clawmem created it here."""
    found = _fingerprint(git_dir)
    if found is None:
        return False
    records = _records(environment)
    entry = records.get(_key(git_dir))
    moved = (path for path, record in records.items() if record == found and not os.path.lexists(path))
    return entry == found or next(moved, None) is not None


def is_own_vault(root: Path, environment: Mapping[str, str]) -> bool:
    """Return whether the user accepted the vault in this folder here, or clawmem created it here.

    A `.git` that leads to the git folder of another work tree makes a folder no vault of the user."""
    git_dir = git_dir_of(root)
    if git_dir is None or not is_accepted(git_dir, environment):
        return False
    try:
        if (root / ".git").is_symlink() or git_dir != root / ".git":
            from clawmem.vault.git.folder import check_work_tree  # few vaults have their git folder elsewhere

            check_work_tree(root, git_dir)
    except (Refused, OSError):
        return False
    return True


def accept(git_dir: Path, environment: Mapping[str, str]) -> None:
    """Record the vault as accepted. Raise OSError if the user's configuration folder cannot be written."""
    token = os.urandom(16).hex()
    state = git_dir / STATE
    state.mkdir(exist_ok=True)
    Disk().replace(state / TOKEN, token.encode() + b"\n", state)
    _update(environment, lambda records: {**records, _key(git_dir): _fingerprint(git_dir)})


def another_was_accepted(git_dir: Path, environment: Mapping[str, str]) -> bool:
    """Return whether a vault was accepted at this path that is not there now."""
    return _key(git_dir) in _records(environment) and not is_accepted(git_dir, environment)


def revoke_acceptance(git_dir: Path, environment: Mapping[str, str]) -> None:
    """Remove the vault from the record. Raise OSError if the record cannot be written."""
    _update(environment, lambda records: {key: entry for key, entry in records.items() if key != _key(git_dir)})


def acceptance_notices(git_dir: Path, environment: Mapping[str, str]) -> tuple[str, ...]:
    """Return a notice if a new vault is not accepted: nobody could write the record, or an agent brought the vault."""
    if is_accepted(git_dir, environment):
        return ()
    record = user_folder(environment) / RECORD
    return (f"{record} does not record this vault as accepted: a person accepts it with `clawmem config trust`.",)


def _update(environment: Mapping[str, str], changed: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    folder = user_folder(environment)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with writer_lock(folder / "vaults.lock", _WAIT, "accept"):
        text = json.dumps(changed(_records(environment)), indent=1, sort_keys=True)
        Disk().replace(folder / RECORD, text.encode() + b"\n", folder)


def _records(environment: Mapping[str, str]) -> dict[str, Any]:
    """Return the record. It counts as empty if it cannot be read, so that no vault is accepted by mistake."""
    try:
        data = json.loads((user_folder(environment) / RECORD).read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


def _key(git_dir: Path) -> str:
    return os.path.realpath(git_dir)


def _fingerprint(git_dir: Path) -> dict[str, Any] | None:
    """Return what identifies this git folder, or None if it contains no token."""
    try:
        token = (git_dir / STATE / TOKEN).read_bytes()[:_MAX_TOKEN_BYTES].decode("ascii").strip()
        return {"inode": git_dir.stat().st_ino, "token": token}
    except (OSError, ValueError):
        return None
