"""Git attributes that keep vault files byte for byte: no conversion that the user's attributes ask for is applied. And
the hook that writes down which commits were made in the shell of an agent."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from stat import S_ISREG

from clawmem.model.records.caller import AGENT_SHELLS
from clawmem.vault.git.refs import common_dir_of
from clawmem.vault.vault import Vault

# `info/attributes` takes precedence over every .gitattributes. Without it git would compare converted bytes with the
# bytes that clawmem committed, and report the same files as changed forever.
_KINDS = ("*.md", "*.json", "*.jsonl", "*.yaml")
_ATTRIBUTES = "".join(f"{kind} !diff -text -filter -ident -working-tree-encoding\n" for kind in _KINDS)
BY_AGENTS = "by-agents"
_ROWS = [row.partition("=") for row in AGENT_SHELLS]
_HEAD = """#!/bin/sh
# Written by clawmem: a commit in the shell of an agent is no word of the person. It changes nothing else.
"""
_HOOK = f"""{_HEAD}if [ -n "{"".join(f"${{{name}+x}}" for name, _, value in _ROWS if not value)}" ] ||
    {" || ".join(f'[ "${{{name}-}}" = "{value}" ]' for name, _, value in _ROWS if value)}
then
    {{ git rev-parse HEAD >>"$(git rev-parse --git-dir)/clawmem/{BY_AGENTS}"; }} 2>/dev/null || :
fi
"""


def install_hook(vault: Vault) -> None:
    """Write the hook, once, in a vault of this machine, and in place of one that an older version wrote. A hook of the
    user, and a linked folder, are not changed."""
    path, made = common_dir_of(vault.git_dir) / "hooks" / "post-commit", vault.state / "post-commit"
    if vault.is_foreign or path.parent.is_symlink() or (os.path.lexists(path) and not _is_old(path)):
        return
    with suppress(OSError):  # a full disk, or a file in the place of the folder
        path.parent.mkdir(mode=0o700, exist_ok=True)
        made.write_text(_HOOK)
        made.chmod(0o700)
        made.rename(path)


def _is_old(path: Path) -> bool:
    """Return whether an older version wrote the hook. Only its length is read where it is that of today."""
    try:
        found = path.lstat()
        return S_ISREG(found.st_mode) and found.st_size != len(_HOOK) and path.read_text().startswith(_HEAD)
    except (OSError, ValueError):
        return False


def install_attributes(vault: Vault) -> None:
    """Write the attributes and the merge driver configuration, once. An existing attributes file is not changed."""
    path = _attributes_path(vault)
    if vault.disk.read(path) is None:
        from clawmem.vault.git.merge_driver import install_driver

        install_driver(vault)
        vault.disk.replace(path, _ATTRIBUTES.encode(), vault.state)


def _attributes_path(vault: Vault) -> Path:
    return common_dir_of(vault.git_dir) / "info" / "attributes"
