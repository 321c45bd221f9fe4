"""Where HEAD stands, read from git's files: starting git for it would cost more than a whole recall."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from clawmem.errors import Refused

_REF = "ref: "


class Head(NamedTuple):
    """The branch HEAD is on (None when detached) and its commit (None before the first one)."""

    branch: str | None
    commit: str | None


def git_dir_of(root: Path) -> Path | None:
    """The git folder of a work tree, or None where `root` is not the top of one."""
    dot_git = root / ".git"
    if dot_git.is_dir():
        return dot_git
    if not dot_git.is_file():
        return None
    text = dot_git.read_text(encoding="utf-8").strip()
    return (root / text.removeprefix("gitdir: ")).resolve()


def common_dir_of(git_dir: Path) -> Path:
    """The folder that holds the shared refs: the git folder itself, but for linked work trees."""
    try:
        text = (git_dir / "commondir").read_text(encoding="utf-8").strip()
    except (FileNotFoundError, NotADirectoryError):
        return git_dir
    return (git_dir / text).resolve()


def read_head(git_dir: Path) -> Head:
    """HEAD's branch and commit; FileNotFoundError where `git_dir` is no git folder."""
    with open(git_dir / "HEAD", encoding="utf-8") as file:  # noqa: PTH123 - on every command's path
        text = file.read().strip()
    if not text.startswith(_REF):
        return Head(None, text)
    branch = text.removeprefix(_REF)
    if branch.endswith("/.invalid"):
        raise Refused(
            "This repository keeps its branches in git's reftable format, which clawmem does not read.",
            "Convert it: git refs migrate --ref-format=files",
        )
    common = common_dir_of(git_dir)
    try:
        with open(common / branch, encoding="utf-8") as file:  # noqa: PTH123
            commit = file.read().strip()
    except (FileNotFoundError, NotADirectoryError):
        return Head(branch, _packed(common, branch))
    return Head(branch, commit or None)


def _packed(common: Path, branch: str) -> str | None:
    try:
        text = (common / "packed-refs").read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    ending = f" {branch}"
    return next((line[: -len(ending)] for line in text.splitlines() if line.endswith(ending)), None)
