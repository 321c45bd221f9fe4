"""Which vaults a person has accepted on this machine: a record in the user's configuration folder, outside every vault.

Settings that reach outside, and git configuration that runs a program, take effect only in an accepted vault. A vault
that clawmem creates or restores here is accepted; one that was copied, unpacked or cloned is not, until a person runs
`clawmem config trust`. The record names the real path and the inode of the git folder, so neither a copy elsewhere nor
a folder put in the same place counts.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

from clawmem.vault.disk import Disk

RECORD = "vaults.json"


def user_folder(environment: Mapping[str, str]) -> Path:
    """The folder of the user's own configuration: `$XDG_CONFIG_HOME/clawmem`, else `~/.config/clawmem`."""
    base = environment.get("XDG_CONFIG_HOME", "")
    if os.path.isabs(base):  # noqa: PTH117 - the specification ignores relative values
        return Path(base) / "clawmem"
    home = environment.get("HOME")
    return (Path(home) if home else Path.home()) / ".config" / "clawmem"


def is_accepted(git_dir: Path, environment: Mapping[str, str]) -> bool:
    """Whether a person accepted the vault of this git folder on this machine, or clawmem made it here."""
    return _records(environment).get(_key(git_dir)) == _inode(git_dir)


def accept(git_dir: Path, environment: Mapping[str, str]) -> None:
    """Record the vault as accepted; raises OSError where the user's configuration folder cannot be written."""
    folder = user_folder(environment)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    records = {**_records(environment), _key(git_dir): _inode(git_dir)}
    Disk().replace(folder / RECORD, json.dumps(records, indent=1, sort_keys=True).encode() + b"\n", folder)


def _records(environment: Mapping[str, str]) -> dict[str, int]:
    try:
        data = json.loads((user_folder(environment) / RECORD).read_bytes())
    except (OSError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}


def _key(git_dir: Path) -> str:
    return os.path.realpath(git_dir)


def _inode(git_dir: Path) -> int:
    return git_dir.stat().st_ino
