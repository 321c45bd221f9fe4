"""The prompts, each a text file of its own beside this one."""

from __future__ import annotations

from functools import cache
from pathlib import Path

_HERE = Path(__file__).parent


@cache
def prompt(name: str) -> str:
    """The text of a prompt."""
    return (_HERE / f"{name}.txt").read_text(encoding="utf-8").rstrip("\n")
