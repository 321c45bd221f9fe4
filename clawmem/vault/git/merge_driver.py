"""The merge driver: git calls it for each file that both sides of a merge changed."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from clawmem.errors import ClawmemError
from clawmem.model.language.text import visible
from clawmem.model.records.layout import is_owned

_CONFLICT = 1


def merge_for_git(base: str, ours: str, theirs: str, path: str, environment: Mapping[str, str]) -> int:
    """Merge three temporary files of git into the second one. Return the exit code for git: 0, or 1 for a conflict.

    If they cannot be merged, nothing is written: git reports a conflict and our version stays, without conflict
    markers.
    """
    if not is_owned(path):
        return _as_git_does(base, ours, theirs, environment)
    from clawmem.model.merging.files.merge import merge_file

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
