"""Where HEAD stands, read from git's files: starting git for it would cost more than a whole recall."""

import errno
import os
from pathlib import Path
from typing import NamedTuple

from clawmem.errors import GitFailed, Refused
from clawmem.vault.disk import files_below, read_regular_file

# The note of a transaction under way, below `.git/clawmem/`: see `clawmem.vault.commit.pending`.
PENDING_FILE = "pending.json"
_REF = "ref: "
_HEX = frozenset("0123456789abcdefABCDEF")
_LONGEST_LINE = 20_000


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
    loose = _loose_commit(common, branch)
    if loose is not None:
        return Head(branch, loose)
    packed = _packed(common, branch)
    if _seems_lost(git_dir, common, branch, packed):
        # Or it moved between our looks at git's files.
        loose, packed = _loose_commit(common, branch), _packed(common, branch)
        if loose is not None:
            return Head(branch, loose)
        if packed is not None and _seems_lost(git_dir, common, branch, packed):
            raise GitFailed(
                f".git/{branch} is lost, and git takes an older commit for the newest: {packed[:12]}.",
                "`clawmem doctor --fix` puts the branch back; to go on from the older commit instead, run"
                " `git commit --allow-empty`.",
            )
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
    data = read_regular_file(path)
    return None if data is None else data.decode(errors="replace").strip()


def _loose_commit(common: Path, branch: str) -> str | None:
    """The commit that the file of a branch names, None where there is none; GitFailed where it is damaged."""
    loose = _loose(common, branch)
    return None if loose is None else _name(loose, branch)


def _seems_lost(git_dir: Path, common: Path, branch: str, packed: str | None) -> bool:
    """Whether git moved the branch on after it was packed, and the file that said where to is gone. git notes a move
    before it makes it: one that is under way, or was killed, is no loss."""
    moved = last_move(git_dir, branch)
    if moved is None or moved.new == packed:
        return False
    unmade = moved.old == packed and (
        (common / f"{branch}.lock").exists() or (git_dir / "clawmem" / PENDING_FILE).exists()
    )
    return not unmade


def lost_branch(git_dir: Path) -> tuple[str, str] | None:
    """HEAD's branch and the commit it was at last, where its file is damaged or gone and git's log tells of it."""
    branch = (_text(git_dir / "HEAD") or "").removeprefix(_REF).strip()
    common, moved = common_dir_of(git_dir), last_move(git_dir, branch)
    if moved is None:
        return None
    try:
        if _loose_commit(common, branch) is not None or not _seems_lost(
            git_dir, common, branch, _packed(common, branch)
        ):
            return None
    except GitFailed:
        pass  # damaged
    return branch, moved.new


class RefMove(NamedTuple):
    """From which commit to which a branch moved."""

    old: str
    new: str


def last_move(git_dir: Path, branch: str) -> RefMove | None:
    """The last move of a branch that git's log of it tells of; None where there is no such log."""
    try:
        with open(common_dir_of(git_dir) / "logs" / branch, "rb") as file:  # noqa: PTH123
            file.seek(0, os.SEEK_END)
            file.seek(max(0, file.tell() - _LONGEST_LINE))
            lines = file.read().decode(errors="replace").splitlines()
    except (OSError, ValueError):
        return None
    words = lines[-1].split(" ", 2) if lines else []
    whole = len(words) == 3 and all(len(word) in (40, 64) and _HEX.issuperset(word) for word in words[:2])
    return RefMove(words[0], words[1]) if whole else None


def _name(text: str, place: str) -> str:
    """The name of a commit, as git's file `place` gives it."""
    if len(text) not in (40, 64) or not _HEX.issuperset(text):
        raise GitFailed(
            f".git/{place} is damaged: it holds no commit's name.",
            "`git reflog` shows the last good one; put it back with `git update-ref HEAD COMMIT`."
            if place == "HEAD"
            else "`clawmem doctor --fix` puts it back where git's log of the branch tells of it.",
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


def last_merge_mark(git_dir: Path) -> str | None:
    """What changes whenever git itself merges, pulls or rebases here; None where it never did."""
    path = git_dir / "ORIG_HEAD"
    try:
        when = os.stat(path).st_mtime_ns  # noqa: PTH116 - on every writer's path
        return f"{_text(path)} {when}"
    except (FileNotFoundError, NotADirectoryError):
        return None
