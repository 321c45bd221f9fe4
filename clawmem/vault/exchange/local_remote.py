"""A remote on a disk of this machine: git runs what its own hooks and configuration name."""

from __future__ import annotations

import os
from pathlib import Path

from clawmem.errors import Refused
from clawmem.vault.git.config import read_config, split_plain
from clawmem.vault.git.refs import git_dir_of
from clawmem.vault.vault import Vault

_FILE = "file://"
# Sections of a repository's configuration that run nothing while others fetch from it or push to it.
_HARMLESS_SECTIONS = frozenset(("alias", "branch", "color", "gitweb", "http", "merge", "remote"))


def refuse_programs(vault: Vault, name: str, address: str) -> None:
    """Raise Refused if an address is a repository on this machine that runs programs of its own."""
    git_dir = _git_dir_at(vault.root, address)
    if git_dir is None:
        return
    what = _program_of(vault, git_dir)
    if what is not None:
        raise Refused(
            f"{name} is {git_dir}, which would run a program of its own here: {what}.",
            "If you trust that repository, accept this vault on this machine: `clawmem config trust`.",
        )


def _git_dir_at(root: Path, address: str) -> Path | None:
    """Return the git folder of a remote address, or None if it is on another machine or does not exist."""
    if address.startswith(_FILE):
        address = address.removeprefix(_FILE)
    elif ":" in address.split("/", 1)[0]:
        return None
    for place in (root / address, root / f"{address}.git"):
        found = git_dir_of(place) or place
        if (found / "HEAD").is_file():
            return found
    return None


def _program_of(vault: Vault, git_dir: Path) -> str | None:
    hooks = git_dir / "hooks"
    if hooks.is_dir():
        for path in sorted(hooks.iterdir()):
            if path.suffix != ".sample" and path.is_file() and os.access(path, os.X_OK):
                return f"the hook {path.name}"
    _, others = split_plain(read_config(git_dir, vault.git.environment))
    unsafe = [one for one in others if one.section not in _HARMLESS_SECTIONS and one.key != "core.bare"]
    return f"{unsafe[0].key} in its configuration" if unsafe else None
