"""What clawmem installs in a repository: attributes, a hook and the merge driver.

The attributes keep vault files byte for byte: no conversion that the user's attributes ask for is applied. The hook
writes down which commits were made in the shell of an agent. git calls the driver for each file that both sides of a
merge changed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from stat import S_ISREG

from clawmem.errors import ClawmemError
from clawmem.model.language.text import visible
from clawmem.model.records.caller import AGENT_SHELLS
from clawmem.model.records.layout import is_owned
from clawmem.vault.disk import swap_in
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
        swap_in(made, path, _HOOK.encode(), 0o700)


def _is_old(path: Path) -> bool:
    """Return whether an older version wrote the hook. Only its length is read where it is that of today."""
    try:
        found = path.lstat()
        return S_ISREG(found.st_mode) and found.st_size != len(_HOOK) and path.read_text().startswith(_HEAD)
    except (OSError, ValueError):
        return False


def install_attributes(vault: Vault) -> None:
    """Write the attributes and the merge driver configuration, once. An existing attributes file is not changed."""
    path = common_dir_of(vault.git_dir) / "info" / "attributes"
    if vault.disk.read(path) is None:
        install_driver(vault)
        vault.disk.replace(path, _ATTRIBUTES.encode(), vault.state)


_CONFLICT = 1


def merge_for_git(base: str, ours: str, theirs: str, path: str, environment: Mapping[str, str]) -> int:
    """Merge three temporary files of git into the second one. Return the exit code for git: 0, or 1 for a conflict.

    If they cannot be merged, nothing is written: git reports a conflict and our version stays, without conflict
    markers.
    """
    if not is_owned(path):
        return _as_git_does(base, ours, theirs, environment)
    from clawmem.model.merging.files import merge_file

    try:
        sides = [Path(name).read_bytes() for name in (base, ours, theirs)]
        merged = merge_file(path, sides[0] or None, sides[1], sides[2])
    except (ClawmemError, OSError) as problem:
        _report(f"{path} is not merged: {problem}")
        return _CONFLICT
    if merged.content is None or merged.beside is not None:
        _report(f"{path} is not merged: the versions cannot be combined")
        return _CONFLICT
    Path(ours).write_bytes(merged.content)
    for conflict in merged.conflicts:
        _report(conflict.says)
    return 0


def _report(sentence: str) -> None:
    sys.stderr.write(f"clawmem: {visible(sentence)}\n")


def _as_git_does(base: str, ours: str, theirs: str, environment: Mapping[str, str]) -> int:
    """Merge a file that is not clawmem's as git itself does."""
    import subprocess

    return subprocess.call(["git", "merge-file", ours, base, theirs], env=environment)


# `union` is git's built-in driver for ledgers where clawmem is not configured: it keeps every line. A driver of that
# name in the configuration overrides it.
DRIVER_NAMES = ("clawmem", "union")
DRIVER_SETTINGS = rf"^merge\.({'|'.join(DRIVER_NAMES)})\.driver$"
_TITLE = "clawmem: facts by id, ledgers by time, prose as text"
# git runs it in the vault. Without -P Python would import modules from there, such as a json.py that a remote sent.
_ARGUMENTS = "-P -m clawmem merge-driver %O %A %B %P"


def command_line() -> str:
    """Return the command that git runs to merge one file."""
    from shlex import quote  # not for what `remember` does

    interpreter = os.path.abspath(sys.executable)  # noqa: PTH100 - resolving a link would lose the virtual environment
    return f"{quote(interpreter)} {_ARGUMENTS}"


def install_driver(vault: Vault, settings: Mapping[str, str] | None = None) -> bool:
    """Configure the merge driver in this clone. Return False if it was configured already.

    `settings` are git's settings if the caller has read them.
    """
    if driver_problem(vault, settings) is None:
        return False
    for name in DRIVER_NAMES:
        vault.git.configure({f"merge.{name}.name": _TITLE, f"merge.{name}.driver": command_line()})
    return True


def driver_problem(vault: Vault, settings: Mapping[str, str] | None = None) -> str | None:
    """Return a sentence that says why git cannot merge facts in this clone, or None."""
    commands = vault.git.config_values(DRIVER_SETTINGS) if settings is None else settings
    for name in DRIVER_NAMES:
        command = commands.get(f"merge.{name}.driver")
        if command is None:
            return (
                "the merge driver for facts is not configured here,"
                " so git's own merges stop where both sides changed a file."
            )
        if "clawmem" not in command:
            return None  # the user's own choice
        program = _program(command)
        if program.is_absolute() and not program.exists():
            return f"git would merge facts with {program}, which no longer exists."
        if " -m clawmem " in command and " -P " not in command:
            return "git would merge facts with a command of an older version, which imports Python files of the vault."
    return None


def _program(command: str) -> Path:
    from shlex import split  # not for what `remember` does

    try:
        return Path(split(command)[0])
    except (ValueError, IndexError):
        return Path("clawmem")
