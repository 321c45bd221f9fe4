"""One file merged for git, which calls this for each file that both sides of a merge changed."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from clawmem.errors import ClawmemError
from clawmem.model.language.text import visible
from clawmem.model.records.layout import is_owned

_CONFLICT = 1


def merge_for_git(base: str, ours: str, theirs: str, path: str, environment: Mapping[str, str]) -> int:
    """Merge three temporary files of git's into the second; the exit code git asks for: 0, or 1 for a conflict.

    Where it cannot be done nothing is written: git then says that the file is in conflict, and our side's version
    stays, without marks.
    """
    if not is_owned(path):
        return _as_git_does(base, ours, theirs, environment)
    from clawmem.model.merging.files.merge import merge_file

    try:
        sides = [Path(name).read_bytes() for name in (base, ours, theirs)]
        merged = merge_file(path, sides[0] or None, sides[1], sides[2])
    except (ClawmemError, OSError) as problem:
        _say(f"{path} is not merged: {problem}")
        return _CONFLICT
    if merged.content is None or merged.beside is not None:
        _say(f"{path} is not merged: neither version can be put into the other")
        return _CONFLICT
    Path(ours).write_bytes(merged.content)
    for conflict in merged.conflicts:
        _say(conflict.says)
    return 0


def _say(sentence: str) -> None:
    sys.stderr.write(f"clawmem: {visible(sentence)}\n")


def _as_git_does(base: str, ours: str, theirs: str, environment: Mapping[str, str]) -> int:
    """What git would have done with a file that is not clawmem's."""
    import subprocess

    return subprocess.call(["git", "merge-file", ours, base, theirs], env=environment)
