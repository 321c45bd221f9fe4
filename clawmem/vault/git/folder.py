"""Checks that git's own folder, and clawmem's below it, hold regular files only: no links, pipes, devices or second
hard links, no shared folder of another repository.

A vault may come from somebody else as an archive. Through such a file clawmem would write, delete or wait outside the
vault, so each one is refused by name.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from clawmem.errors import Refused, StorageFailed
from clawmem.model.facts.reach import canonical_project
from clawmem.vault.disk import not_regular_file, read_regular_file, refuse_hard_link
from clawmem.vault.git.refs import common_dir_of, git_dir_of

_JOURNAL = "-journal"
# A SQLite journal that ends with these bytes names another file, which SQLite would delete.
_NAMES_ANOTHER = bytes.fromhex("d9d505f920a163d7")
_PAST = "at"
SERVER_SOCKET = ".sock"
"""What the name of the socket of a running MCP server ends with. Nothing is read from it as from a file."""


def check_state_folder(state: Path) -> None:
    """Raise Refused if a file in clawmem's own folder is not a regular file with one hard link."""
    if not check_folder(state):
        return
    for entry in walk_files(state, leaving_out=_PAST):
        if entry.is_symlink() and _is_index_link(entry):
            continue
        if entry.name.endswith(SERVER_SOCKET) and stat.S_ISSOCK(entry.stat(follow_symlinks=False).st_mode):
            continue
        check_file(entry)
        if entry.name.endswith(_JOURNAL):
            _check_journal(entry)


def check_file(entry: os.DirEntry[str], second_names: bool = True) -> None:
    """Raise Refused if a folder entry is not a regular file or, with `second_names`, has another hard link."""
    if entry.is_symlink():
        raise symlink_error(entry.path)
    if not entry.is_file(follow_symlinks=False):
        raise not_regular_file(entry.path)
    if second_names:
        with suppress(FileNotFoundError):  # another process removed it
            refuse_hard_link(entry.stat(follow_symlinks=False), entry.path)


def walk_files(folder: Path | str, leaving_out: str | None = None) -> Iterator[os.DirEntry[str]]:
    """Yield every entry below a folder that is not itself a folder. A folder `leaving_out` at the top is skipped."""
    top = os.fspath(folder)
    waiting = [top]
    while waiting:
        here = waiting.pop()
        for entry in scan_folder(here):
            if not entry.is_dir(follow_symlinks=False):
                yield entry
            elif entry.name != leaving_out or here != top:
                waiting.append(entry.path)


def scan_folder(folder: Path | str) -> Iterator[os.DirEntry[str]]:
    """Yield the entries of a folder. A folder that has disappeared, as git's temporary ones do, has none."""
    try:
        with os.scandir(folder) as found:
            yield from found
    except (FileNotFoundError, NotADirectoryError):
        return
    except PermissionError as problem:
        raise StorageFailed(f"{folder} cannot be read: {problem.strerror}.", "Allow yourself to read it.") from None


def symlink_error(path: str) -> Refused:
    """Return the error for a symbolic link where a file or folder is expected."""
    return Refused(
        f"{path} is a symbolic link, so what is written there would go elsewhere.",
        "Delete the link, or put the file or folder itself in its place.",
    )


def _check_journal(entry: os.DirEntry[str]) -> None:
    if (read_regular_file(entry.path) or b"").endswith(_NAMES_ANOTHER):
        raise Refused(f"{entry.path} names a file of another database.", "Delete it. The index is rebuilt.")


def _is_index_link(entry: os.DirEntry[str]) -> bool:
    """Return whether it is the link to the current search index, or the one that will replace it."""
    try:
        target = os.readlink(entry.path)  # noqa: PTH115 - the target as written
    except FileNotFoundError:
        return True  # replaced meanwhile
    named = entry.name == "index.sqlite" or (entry.name.startswith("index-") and entry.name.endswith(".link"))
    return named and "/" not in target and target.startswith("index-") and target.endswith(".sqlite")


def check_folder(place: Path, or_file: bool = False) -> bool:
    """Return whether a folder exists. Raise Refused for a link in its place, and for a file unless `or_file` is set."""
    try:
        mode = os.lstat(place).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return False
    if stat.S_ISLNK(mode):
        raise symlink_error(str(place))
    if or_file and stat.S_ISREG(mode):
        return False
    if not stat.S_ISDIR(mode):
        raise Refused(f"{place} is a file where a folder should be.", "Move it out of the way.")
    return True


# Folders that git does not use here, and clawmem's own, which is checked when the vault is opened.
_LEFT_OUT = frozenset(("hooks", "clawmem", "worktrees", "modules"))


def check_git_dir(git_dir: Path) -> None:
    """Raise Refused if git's folder contains a link, a pipe, or a hard link of a file that git writes in place.

    The contents of object folders are left to `check_everything`.
    """
    _check_linked(git_dir)
    for folder in dict.fromkeys((git_dir, common_dir_of(git_dir))):
        for entry in scan_folder(folder):
            if entry.name in _LEFT_OUT:
                continue
            if not entry.is_dir(follow_symlinks=False):
                check_file(entry)
            elif entry.name == "objects":
                _check_objects(entry.path)
            else:
                for file in walk_files(entry.path):
                    check_file(file, second_names=entry.name == "logs")


def check_everything(root: Path, git_dir: Path) -> None:
    """Raise Refused if there is a pipe, a socket or a device in the vault or among its objects, because git would block
    on it."""
    check_git_dir(git_dir)
    for entry in walk_files(common_dir_of(git_dir) / "objects"):
        check_file(entry, second_names=False)
    for entry in walk_files(root, leaving_out=".git"):
        if not entry.is_file(follow_symlinks=False) and not entry.is_symlink():
            raise not_regular_file(entry.path)


def check_work_tree(root: Path, git_dir: Path) -> None:
    """Raise Refused if the git folder that `.git` points to belongs to another work tree."""
    place, home = os.path.realpath(git_dir), os.path.realpath(root)
    if place.startswith(home + os.sep):
        return
    named = _work_tree_of(git_dir)
    if named == home or (named is None and Path(place).name != ".git"):
        return
    raise Refused(
        f"{root}/.git leads to {place}, which is the git folder of another work tree.",
        f"If it belongs to this vault, configure it: `git --git-dir={place} config core.worktree {home}`.",
    )


def _work_tree_of(git_dir: Path) -> str | None:
    """Return the work tree that a git folder names as its own, or None."""
    back = read_regular_file(git_dir / "gitdir")
    if back is not None:
        return os.path.realpath((git_dir / os.fsdecode(back).strip()).parent)
    for line in (read_regular_file(git_dir / "config") or b"").decode(errors="surrogateescape").splitlines():
        key, _, value = line.partition("=")
        if key.strip().lower() == "worktree":
            return os.path.realpath(git_dir / value.strip().strip('"'))
    return None


def _check_linked(git_dir: Path) -> None:
    """Raise Refused if a `commondir` file would make git write to another repository.

    The file is right only in the folder of a linked work tree, inside the shared folder.
    """
    if not os.path.lexists(git_dir / "commondir"):
        return
    common = common_dir_of(git_dir)
    if Path(os.path.realpath(git_dir)).parent != Path(os.path.realpath(common)) / "worktrees":
        raise Refused(
            f"{git_dir / 'commondir'} leads to another repository.",
            "Delete that file, or use a clone of your own: `git clone`.",
        )


def _check_objects(folder: str) -> None:
    for entry in scan_folder(folder):
        if not entry.is_dir(follow_symlinks=False):
            check_file(entry, second_names=False)
        elif entry.name in ("pack", "info"):
            for file in walk_files(entry.path):
                check_file(file, second_names=False)


# Compiled where they are used: most queries run where there is no repository.
_SECTION = r'\[remote\s+"(?P<name>[^"\n]+)"\s*\]'
_URL = r"(?i:\s*url\s*=\s*(?P<url>\S+))"
_FIRST = "origin"


def project_of(folder: Path, vault: Path, home: Path) -> str | None:
    """Return the project that a folder belongs to; None without a repository, for the vault's own folder, and where the
    repository is the home folder.

    It is the address of the remote `origin`, or of the first remote, of the nearest git repository at or above the
    folder, as `host/owner/name`. Without a remote it is the repository's folder, which all its work trees share."""
    here = folder.resolve()
    found = None if here.is_relative_to(vault.resolve()) else _repository_project(here)
    return None if found is None or found[0] == home.resolve() else found[1]


def _repository_project(here: Path) -> tuple[Path, str] | None:
    """Return the folder and the project of the nearest repository at or above a folder."""
    for place in (here, *here.parents):
        git_dir = git_dir_of(place)
        if git_dir is not None:
            common = common_dir_of(git_dir)
            return place, _remote(common) or str(place if common == git_dir else common.parent)
    return None


def has_remote(git_dir: Path) -> bool:
    """Return whether a repository names another one with which it is exchanged."""
    return _remote(common_dir_of(git_dir)) is not None


def _remote(common_dir: Path) -> str | None:
    try:
        data = read_regular_file(common_dir / "config")
    except OSError:
        return None
    urls: dict[str, str] = {}
    name = None
    for line in (data or b"").decode(errors="replace").splitlines():
        if line.lstrip().startswith("["):
            section = re.match(_SECTION, line.strip())
            name = section["name"] if section else None
        elif name and (found := re.match(_URL, line)):
            urls.setdefault(name, found["url"])
    url = urls.get(_FIRST) or next(iter(urls.values()), None)
    return canonical_project(url) if url else None
