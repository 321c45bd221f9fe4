"""What must be true of a vault after any failure, read with plain git and plain file reads."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any


def git(root: Path, environment: Mapping[str, str], *arguments: str) -> str:
    """Plain git, the way a person would run it; its output."""
    process = subprocess.run(["git", *arguments], cwd=root, env=environment, capture_output=True, check=False)
    assert process.returncode == 0, (arguments, process.stderr)
    return process.stdout.decode()


def commits(root: Path, environment: Mapping[str, str]) -> list[str]:
    """The commits of the branch, oldest first."""
    return git(root, environment, "rev-list", "--reverse", "HEAD").split()


def facts(root: Path) -> list[dict[str, Any]]:
    """Every fact record in the work tree; where `assert_whole` has passed, every one in HEAD."""
    pages = sorted(path for path in work_files(root) if path.name == "items.json")
    return [record for path in pages for record in json.loads(path.read_bytes())]


def work_files(root: Path) -> Iterator[Path]:
    """Every file of the work tree; `.git` is not entered, where a git that outlived its parent may be clearing up."""
    for where, folders, files in os.walk(root):
        folders[:] = [name for name in folders if name != ".git"]
        yield from (Path(where) / name for name in files)


def assert_whole(root: Path, environment: Mapping[str, str]) -> None:
    """Work tree equal to HEAD byte for byte, status empty, nothing left behind."""
    assert git(root, environment, "status", "--porcelain", "--untracked-files=all") == ""
    assert _tree_in_head(root, environment) == _tree_on_disk(root)
    assert leftovers(root) == []


def assert_sound(root: Path, environment: Mapping[str, str]) -> None:
    """Every object and every reference of the repository is as it should be."""
    assert git(root, environment, "fsck", "--strict", "--no-dangling", "--no-progress") == ""


def leftovers(root: Path) -> list[str]:
    """Locks, notes and half-written files that no finished command may leave."""
    found = [
        path.name
        for pattern in ("*.lock", "refs/heads/*.lock", "clawmem/pending.json", "clawmem/half-*", "fast_import_crash_*")
        for path in (root / ".git").glob(pattern)
    ]
    # A git that outlived its parent may still be clearing folders away.
    below = (name for _, _, names in os.walk(root) for name in names)
    return found + [name for name in below if name.startswith(".") and name.endswith(".half")]


def _tree_in_head(root: Path, environment: Mapping[str, str]) -> dict[str, str]:
    rows = git(root, environment, "ls-tree", "-r", "-z", "HEAD").split("\0")
    return {row.partition("\t")[2]: row.split()[2] for row in rows if row}


def _tree_on_disk(root: Path) -> dict[str, str]:
    return {path.relative_to(root).as_posix(): _blob_id(path.read_bytes()) for path in work_files(root)}


def _blob_id(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
