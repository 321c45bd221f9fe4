"""The prompts, one text file each in this folder."""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from pathlib import Path

_HERE = Path(__file__).parent


@cache
def prompt(name: str) -> str:
    """Return the text of a prompt."""
    return (_HERE / f"{name}.txt").read_text(encoding="utf-8").rstrip("\n")


@cache
def prompt_version(name: str) -> str:
    """Return the version of a prompt: its name and the start of its SHA-256 checksum."""
    return f"{name}@{sha256(prompt(name).encode()).hexdigest()[:12]}"
