"""Which vaults a person has accepted on this machine: a record in the user's configuration folder, outside every vault.

Settings that reach outside, and git configuration that runs a program, take effect only in an accepted vault. A vault
that clawmem creates or restores here is accepted; one that was copied, unpacked or cloned is not, until a person runs
`clawmem config trust`. The record names the real path and the inode of the git folder, and a token that lies in it: a
copy elsewhere does not count, and neither does a folder put in the same place, whose inode a file system may give anew.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from clawmem.vault.disk import Disk

RECORD = "vaults.json"
STATE, TOKEN = "clawmem", "accepted"
_LONGEST = 100
_WAIT = 10.0


def user_folder(environment: Mapping[str, str]) -> Path:
    """The folder of the user's own configuration: `$XDG_CONFIG_HOME/clawmem`, else `~/.config/clawmem`."""
    base = environment.get("XDG_CONFIG_HOME", "")
    if os.path.isabs(base):  # noqa: PTH117 - the specification ignores relative values
        return Path(base) / "clawmem"
    home = environment.get("HOME", "")
    if os.path.isabs(home):  # noqa: PTH117 - a relative one would lead wherever the command runs
        return Path(home) / ".config" / "clawmem"
    try:
        return Path.home() / ".config" / "clawmem"
    except RuntimeError:  # a user without a home
        return Path(os.sep) / ".config" / "clawmem"


def is_accepted(git_dir: Path, environment: Mapping[str, str]) -> bool:
    """Whether a person accepted the vault of this git folder on this machine, or clawmem made it here."""
    noted = _records(environment).get(_key(git_dir))
    return isinstance(noted, dict) and noted == _marks(git_dir)


def accept(git_dir: Path, environment: Mapping[str, str]) -> None:
    """Record the vault as accepted; raises OSError where the user's configuration folder cannot be written."""
    token = os.urandom(16).hex()
    state = git_dir / STATE
    state.mkdir(exist_ok=True)
    Disk().replace(state / TOKEN, token.encode() + b"\n", state)
    _note(environment, lambda records: {**records, _key(git_dir): _marks(git_dir)})


def revoke_acceptance(git_dir: Path, environment: Mapping[str, str]) -> None:
    """Take the acceptance of a vault back; raises OSError where the record cannot be written."""
    _note(environment, lambda records: {key: noted for key, noted in records.items() if key != _key(git_dir)})


def try_accept(git_dir: Path, environment: Mapping[str, str]) -> tuple[str, ...]:
    """Record a vault that clawmem made here as accepted; where that cannot be kept, why, in a sentence."""
    try:
        accept(git_dir, environment)
    except OSError as problem:
        folder = user_folder(environment)
        return (
            f"This vault could not be noted as accepted, as {folder} cannot be written ({problem.strerror}):"
            " `clawmem config trust` does it later.",
        )
    return ()


def _note(environment: Mapping[str, str], changed: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    from clawmem.vault.lock import writer_lock  # reads take none

    folder = user_folder(environment)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with writer_lock(folder / "vaults.lock", _WAIT, "accept"):
        told = json.dumps(changed(_records(environment)), indent=1, sort_keys=True)
        Disk().replace(folder / RECORD, told.encode() + b"\n", folder)


def _records(environment: Mapping[str, str]) -> dict[str, Any]:
    """What is on record; nothing where that cannot be read, so that nothing counts as accepted by mistake."""
    try:
        data = json.loads((user_folder(environment) / RECORD).read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return data if isinstance(data, dict) else {}


def _key(git_dir: Path) -> str:
    return os.path.realpath(git_dir)


def _marks(git_dir: Path) -> dict[str, Any] | None:
    """What tells this git folder from any other; None where it holds no token."""
    try:
        token = (git_dir / STATE / TOKEN).read_bytes()[:_LONGEST].decode("ascii").strip()
        return {"inode": git_dir.stat().st_ino, "token": token}
    except (OSError, ValueError):
        return None
