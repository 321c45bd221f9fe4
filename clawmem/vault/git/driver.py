"""Telling git in a clone that clawmem is the merge driver which `.gitattributes` names."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Mapping
from pathlib import Path

from clawmem.vault.vault import Vault

# `union` is git's own way to merge ledgers where clawmem is not configured: it keeps every line. Named in the
# configuration it is ours.
DRIVER_NAMES = ("clawmem", "union")
DRIVER_SETTINGS = rf"^merge\.({'|'.join(DRIVER_NAMES)})\.driver$"
_TITLE = "clawmem: facts by id, ledgers by time, prose as text"
_ARGUMENTS = "-m clawmem merge-driver %O %A %B %P"


def command_line() -> str:
    """What git runs to merge one file."""
    interpreter = os.path.abspath(sys.executable)  # noqa: PTH100 - a link is the environment it belongs to
    return f"{shlex.quote(interpreter)} {_ARGUMENTS}"


def install_driver(vault: Vault, told: Mapping[str, str] | None = None) -> bool:
    """Tell git in this clone how to merge; False where it knew. `told` are git's settings where they were read."""
    if driver_problem(vault, told) is None:
        return False
    for name in DRIVER_NAMES:
        vault.git.configure({f"merge.{name}.name": _TITLE, f"merge.{name}.driver": command_line()})
    return True


def driver_problem(vault: Vault, told: Mapping[str, str] | None = None) -> str | None:
    """Why git cannot merge facts in this clone, in a sentence, or None."""
    commands = vault.git.config_values(DRIVER_SETTINGS) if told is None else told
    for name in DRIVER_NAMES:
        command = commands.get(f"merge.{name}.driver")
        if command is None:
            return "git is not told here how to merge facts; until then its own merges stop where both sides wrote."
        if "clawmem" not in command:
            return None  # a person's own choice
        program = _program(command)
        if program.is_absolute() and not program.exists():
            return f"git would merge facts with {program}, which is not there any more."
    return None


def _program(command: str) -> Path:
    try:
        return Path(shlex.split(command)[0])
    except (ValueError, IndexError):
        return Path("clawmem")
