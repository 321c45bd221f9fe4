"""The merge driver: git calls it for each file that both sides of a merge changed."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path

from clawmem.errors import ClawmemError
from clawmem.model.language.text import visible
from clawmem.model.records.layout import is_owned
from clawmem.vault.vault import Vault

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
    interpreter = os.path.abspath(sys.executable)  # noqa: PTH100 - resolving a link would lose the virtual environment
    return f"{shlex.quote(interpreter)} {_ARGUMENTS}"


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
    try:
        return Path(shlex.split(command)[0])
    except (ValueError, IndexError):
        return Path("clawmem")
