"""The prompts, one text file each in this folder."""

from __future__ import annotations

from functools import cache
from pathlib import Path

_HERE = Path(__file__).parent


@cache
def prompt(name: str) -> str:
    """Return the text of a prompt."""
    return (_HERE / f"{name}.txt").read_text(encoding="utf-8").rstrip("\n")
