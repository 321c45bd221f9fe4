"""Reading HEAD and refs from git's files. Starting git for this would take longer than a whole recall."""

import errno
import os
from pathlib import Path

from clawmem.errors import GitFailed, Refused
from clawmem.model.named_tuple import NamedTuple
from clawmem.vault.disk import files_below, read_regular_file

# The note of a transaction under way, below `.git/clawmem/`: see `clawmem.vault.commit.pending`.
PENDING_FILE = "pending.json"
_REF = "ref: "
_HEX = frozenset("0123456789abcdefABCDEF")
_LONGEST_LINE = 20_000


class Head(NamedTuple):
    """The branch that HEAD is on (None if detached) and its commit (None before the first one)."""

    branch: str | None
    commit: str | None

    def needed_branch(self) -> str:
        """Return the branch. Raise Refused if there is none."""
        if self.branch is None:
            raise Refused(
                "HEAD is detached: a new commit would belong to no branch.",
                "Return to the branch with `git switch main`, then run the command again.",
            )
        return self.branch


def git_dir_of(root: Path) -> Path | None:
    """Return the git folder of a work tree, or None if `root` is not the top of one."""
    dot_git = root / ".git"
    if dot_git.is_dir():
        return dot_git
    if not dot_git.is_file():
        return None
    text = (_text(dot_git) or "").replace("\0", "")
    target = (root / text.removeprefix("gitdir: ")).resolve()
    return target if target.is_dir() else None


def common_dir_of(git_dir: Path) -> Path:
    """Return the folder with the shared refs: the git folder itself, except in a linked work tree."""
    text = _text(git_dir / "commondir")
    return git_dir if text is None else (git_dir / text.replace("\0", "")).resolve()


def read_head(git_dir: Path) -> Head:
    """Return the branch and commit of HEAD.

    Raise FileNotFoundError if `git_dir` is not a git folder, and GitFailed if one of git's files is damaged.
    """
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
            ".git/HEAD is damaged: it does not name a branch.",
            "`git branch --all` shows the branches there are; name one with `git symbolic-ref HEAD refs/heads/main`.",
        )
    common = common_dir_of(git_dir)
    loose = _loose_commit(common, branch)
    if loose is not None:
        return Head(branch, loose)
    packed = _packed(common, branch)
    if _seems_lost(git_dir, common, branch, packed):
        # Or it moved between two reads of git's files.
        loose, packed = _loose_commit(common, branch), _packed(common, branch)
        if loose is not None:
            return Head(branch, loose)
        if packed is not None and _seems_lost(git_dir, common, branch, packed):
            raise GitFailed(
                f".git/{branch} is lost, so git uses an older commit as the newest: {packed[:12]}.",
                "`clawmem doctor --fix` restores the branch; to continue from the older commit instead, run"
                " `git commit --allow-empty`.",
            )
    if packed is None and _was_born(common, git_dir):
        raise GitFailed(
            f"HEAD names the branch {branch.removeprefix('refs/heads/')}, which has no commit, though the vault has a"
            " history.",
            "`git branch --all` shows the branches there are; switch to the right one with `git switch`, or see"
            " `git reflog`.",
        )
    return Head(branch, packed)


def _is_branch(name: str) -> bool:
    """Return whether a ref name is valid, so that its file is below the folder of refs."""
    parts = name.split("/")
    whole = all(part and not part.startswith(".") and not part.endswith(".lock") for part in parts)
    return parts[0] == "refs" and len(parts) > 1 and name.isprintable() and whole


def _text(path: Path) -> str | None:
    """Return the text of a short git file, or None if it does not exist. Raise Refused if it is not a regular file."""
    data = read_regular_file(path)
    return None if data is None else data.decode(errors="replace").strip()


def _loose_commit(common: Path, branch: str) -> str | None:
    """Return the commit in the file of a ref, or None if it does not exist. Raise GitFailed if it is damaged."""
    try:
        loose = _text(common / branch)
    except IsADirectoryError:
        return None
    except OSError as problem:
        if problem.errno == errno.ENAMETOOLONG:
            return None
        raise
    return None if loose is None else _name(loose, branch)


def _seems_lost(git_dir: Path, common: Path, branch: str, packed: str | None) -> bool:
    """Return whether the branch moved after it was packed and its file is missing.

    git logs a move before it makes it, so a move in progress, or one that was killed, is not a loss.
    """
    moved = last_move(git_dir, branch)
    if moved is None or moved.new == packed:
        return False
    in_progress = moved.old == packed and (
        (common / f"{branch}.lock").exists() or (git_dir / "clawmem" / PENDING_FILE).exists()
    )
    return not in_progress


def lost_branch(git_dir: Path) -> tuple[str, str] | None:
    """Return HEAD's branch and its last commit in the reflog if the file of the branch is damaged or missing."""
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
        pass  # the file is damaged
    return branch, moved.new


class RefMove(NamedTuple):
    """A move of a branch from one commit to another."""

    old: str
    new: str


def last_move(git_dir: Path, branch: str) -> RefMove | None:
    """Return the last move of a branch in its reflog, or None if there is no reflog."""
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
    """Check the name of a commit that was read from git's file `place`, and return it."""
    if len(text) not in (40, 64) or not _HEX.issuperset(text):
        raise GitFailed(
            f".git/{place} is damaged: it contains no commit hash.",
            "`git reflog` shows the last good one; restore it with `git update-ref HEAD COMMIT`."
            if place == "HEAD"
            else "`clawmem doctor --fix` restores it from git's log of the branch.",
        )
    return text


def _was_born(common: Path, git_dir: Path) -> bool:
    """Return whether the vault had a commit before.

    If so, a branch without a commit is an error: a commit on it would start a second history.
    """
    signs = (common / "packed-refs", git_dir / "clawmem" / "index.sqlite")
    return any(sign.exists() for sign in signs) or any(True for _ in files_below(common / "refs" / "heads"))


def _packed(common: Path, branch: str) -> str | None:
    ending = f" {branch}"
    found = next((line[: -len(ending)] for line in _packed_lines(common) if line.endswith(ending)), None)
    return None if found is None else _name(found, "packed-refs")


def _packed_lines(common: Path) -> list[str]:
    return (_text(common / "packed-refs") or "").splitlines()


def read_ref(git_dir: Path, name: str) -> str | None:
    """Return the commit of one of clawmem's own refs, or None if it does not exist."""
    common = common_dir_of(git_dir)
    return _loose_commit(common, name) or _packed(common, name)


def refs_below(git_dir: Path, folder: str) -> list[str]:
    """Return the names of the refs directly below a folder such as `refs/clawmem/rescue`, sorted."""
    common = common_dir_of(git_dir)
    start = f"{folder}/"
    try:
        loose = [start + entry.name for entry in os.scandir(common / folder) if not entry.name.endswith(".lock")]
    except (FileNotFoundError, NotADirectoryError):
        loose = []
    packed = (line.partition(" ")[2] for line in _packed_lines(common))
    return sorted({*loose, *(name for name in packed if name.startswith(start))})


def last_merge_mark(git_dir: Path) -> str | None:
    """Return a text that changes whenever git itself merges, pulls or rebases here, or None if it never did."""
    path = git_dir / "ORIG_HEAD"
    try:
        when = os.stat(path).st_mtime_ns  # noqa: PTH116 - on every writer's path
        return f"{_text(path)} {when}"
    except (FileNotFoundError, NotADirectoryError):
        return None
