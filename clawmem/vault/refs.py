"""Where HEAD stands, read from git's files: starting git for it would cost more than a whole recall."""

import errno
import os
from pathlib import Path
from typing import NamedTuple

from clawmem.errors import GitFailed, Refused
from clawmem.vault.disk import files_below, read_plain

_REF = "ref: "
_HEX = frozenset("0123456789abcdefABCDEF")


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
    text = (_text(dot_git) or "").replace("\0", "")
    led_to = (root / text.removeprefix("gitdir: ")).resolve()
    return led_to if led_to.is_dir() else None


def common_dir_of(git_dir: Path) -> Path:
    """The folder that holds the shared refs: the git folder itself, but for linked work trees."""
    text = _text(git_dir / "commondir")
    return git_dir if text is None else (git_dir / text.replace("\0", "")).resolve()


def read_head(git_dir: Path) -> Head:
    """HEAD's branch and commit; FileNotFoundError where `git_dir` is no git folder, GitFailed where one of git's
    files is damaged."""
    text = _text(git_dir / "HEAD")
    if text is None:
        raise FileNotFoundError(git_dir / "HEAD")
    if not text.startswith(_REF):
        return Head(None, _name(text, "HEAD"))
    branch = text.removeprefix(_REF).strip()
    if branch.endswith("/.invalid"):
        raise Refused(
            "This repository keeps its branches in git's reftable format, which clawmem does not read.",
            "Convert it: git refs migrate --ref-format=files",
        )
    if not _is_branch(branch):
        raise GitFailed(
            ".git/HEAD is damaged: what it names is no branch.",
            "`git branch --all` shows the branches there are; name one with `git symbolic-ref HEAD refs/heads/main`.",
        )
    common = common_dir_of(git_dir)
    loose = _loose(common, branch)
    if loose is not None:
        return Head(branch, _name(loose, branch))
    packed = _packed(common, branch)
    if packed is None and _was_born(common, git_dir):
        raise GitFailed(
            f"HEAD names the branch {branch.removeprefix('refs/heads/')}, which has no commit, though the vault has a"
            " history.",
            "`git branch --all` shows the branches there are; go to the right one with `git switch`, or see"
            " `git reflog`.",
        )
    return Head(branch, packed)


def _is_branch(name: str) -> bool:
    """Whether a ref's name is one, so that the files named after it lie among the refs."""
    parts = name.split("/")
    return parts[0] == "refs" and len(parts) > 1 and name.isprintable() and all(_is_part(part) for part in parts)


def _is_part(part: str) -> bool:
    return bool(part) and not part.startswith(".") and not part.endswith(".lock")


def _loose(common: Path, name: str) -> str | None:
    """What the file of a ref holds, None where there is none."""
    try:
        return _text(common / name)
    except IsADirectoryError:
        return None
    except OSError as problem:
        if problem.errno == errno.ENAMETOOLONG:
            return None
        raise


def _text(path: Path) -> str | None:
    """A short file of git's, None where there is none; Refused for what is no file."""
    data = read_plain(path)
    return None if data is None else data.decode(errors="replace").strip()


def _name(text: str, place: str) -> str:
    """The name of a commit, as git's file `place` gives it."""
    if len(text) not in (40, 64) or not _HEX.issuperset(text):
        raise GitFailed(
            f".git/{place} is damaged: it holds no commit's name.",
            f"`git reflog` shows the last good one; put it back with `git update-ref {place} COMMIT`.",
        )
    return text


def _was_born(common: Path, git_dir: Path) -> bool:
    """Whether there was a commit once: then a branch without one is a mistake, and a commit on it would begin a
    history of its own."""
    signs = (common / "packed-refs", git_dir / "clawmem" / "index.sqlite")
    return any(sign.exists() for sign in signs) or any(True for _ in files_below(common / "refs" / "heads"))


def _packed(common: Path, branch: str) -> str | None:
    ending = f" {branch}"
    found = next((line[: -len(ending)] for line in _packed_lines(common) if line.endswith(ending)), None)
    return None if found is None else _name(found, "packed-refs")


def _packed_lines(common: Path) -> list[str]:
    return (_text(common / "packed-refs") or "").splitlines()


def read_ref(git_dir: Path, name: str) -> str | None:
    """The commit that a ref of clawmem's own names, or None where there is none of that name."""
    common = common_dir_of(git_dir)
    loose = _loose(common, name)
    return _packed(common, name) if loose is None else _name(loose, name)


def refs_below(git_dir: Path, folder: str) -> list[str]:
    """The names of the refs right below a folder such as `refs/clawmem/rescue`, sorted."""
    common = common_dir_of(git_dir)
    start = f"{folder}/"
    try:
        loose = [start + entry.name for entry in os.scandir(common / folder) if not entry.name.endswith(".lock")]
    except (FileNotFoundError, NotADirectoryError):
        loose = []
    packed = (line.partition(" ")[2] for line in _packed_lines(common))
    return sorted({*loose, *(name for name in packed if name.startswith(start))})


def last_join(git_dir: Path) -> str | None:
    """What changes whenever git itself merges, pulls or rebases here; None where it never did."""
    path = git_dir / "ORIG_HEAD"
    try:
        when = os.stat(path).st_mtime_ns  # noqa: PTH116 - on every writer's path
        return f"{_text(path)} {when}"
    except (FileNotFoundError, NotADirectoryError):
        return None
