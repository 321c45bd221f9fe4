"""The work that is evaluated: a checkout, one file, or a commit of the repository of the working folder."""

from __future__ import annotations

import os
import shutil
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from clawmem.errors import ClawmemError, NotFound, Refused
from clawmem.memory.allowed_commands import top_of_checkout
from clawmem.vault.git.git import resolve_commit, write_snapshot
from clawmem.vault.git.refs import git_dir_of, read_head
from clawmem.vault.vault import Vault

NO_WORK = "none"
_SKIPPED = frozenset(("node_modules", "__pycache__", "venv", "target", "dist", "build"))
_MOST_FILES = 20_000
_LARGEST = 2_000_000


class Work(NamedTuple):
    """The work: its name in records, the folder with its files (None: no work), and the checkout for which its commands
    are allowed (None: commands cannot run on it)."""

    name: str
    folder: Path | None = None
    place: Path | None = None


@contextmanager
def opened_work(vault: Vault, named: str | None, working_folder: Path) -> Iterator[Work]:
    """Yield the work that `named` means: a folder, a file, or a commit, which are looked for in this order.

    Without a name it is the checkout of the working folder, unless that is in the vault. Raise NotFound,
    and Refused for a folder of the vault."""
    root = vault.root.resolve()
    path = (working_folder / Path(named).expanduser()).resolve() if named else top_of_checkout(working_folder)
    if path.is_dir():
        if path.is_relative_to(root):
            if named is None:
                yield Work(NO_WORK)
                return
            raise Refused(f"The work is the folder of the vault: {path}.", "Name a checkout outside of it with --work.")
        yield Work(_name_of(path), path, path)
        return
    with TemporaryDirectory(prefix="clawmem-", ignore_cleanup_errors=True) as temporary:
        folder = Path(temporary).resolve()
        if path.is_file():
            shutil.copyfile(path, folder / path.name)
            yield Work(path.name, folder)
            return
        repository, commit = _export(vault, named or "", working_folder, folder)
        yield Work(f"{repository.name}@{commit[:12]}", folder, repository)


def _name_of(folder: Path) -> str:
    """Return the name of a checkout with the commit that it is at, where it has one."""
    for root in (folder, *folder.parents):
        git_dir = git_dir_of(root)
        if git_dir is not None:
            try:
                commit = read_head(git_dir).commit
            except (ClawmemError, OSError):
                commit = None
            return f"{folder.name}@{commit[:12]}" if commit else folder.name
    return folder.name


def _export(vault: Vault, named: str, working_folder: Path, target: Path) -> tuple[Path, str]:
    """Write the files of a commit to a folder. Return the repository's work tree and the commit's hash."""
    here = working_folder.resolve()
    root = next((parent for parent in (here, *here.parents) if git_dir_of(parent) is not None), None)
    if root is None or root.is_relative_to(vault.root.resolve()):
        raise NotFound(f"There is no file or folder '{named}'.", _HINT)
    commit = resolve_commit(root, vault.environment, named)
    if commit is None:
        raise NotFound(f"There is no file, folder or commit '{named}' in {root}.", _HINT)
    try:
        write_snapshot(root, vault.environment, commit, target)
    except tarfile.TarError as problem:
        raise Refused(f"The files of {named} cannot be written: {problem}.", "Check the commit out yourself.") from None
    return root, commit


def files_matching(work: Work, pattern: str) -> list[Path]:
    """Return the plain files of the work that a pattern such as `docs/*.md` names, sorted. Links out of it are left
    out. Raise NotFound if there is no work."""
    if work.folder is None:
        raise NotFound("No work was named.", _HINT)
    root = work.folder.resolve()
    if pattern.startswith("/") or ".." in Path(pattern).parts:
        raise Refused(f"The path '{pattern}' leads out of the work.", "Name a path inside the work.")
    exact = root / pattern
    found = [exact] if exact.exists() or not pattern else list(root.glob(pattern))
    return sorted(path for path in found if path.is_file() and path.resolve().is_relative_to(root))


def text_of_file(path: Path) -> str | None:
    """Return the text of a file; None if it is larger than 2 MB or not UTF-8."""
    try:
        if path.stat().st_size > _LARGEST:
            return None
        return path.read_bytes().decode("utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return None


def all_files(work: Work) -> Iterator[Path]:
    """Yield the files of the work, without hidden folders and those that programs make."""
    count = 0
    for place, folders, names in os.walk(work.folder) if work.folder else ():
        folders[:] = sorted(folder for folder in folders if not folder.startswith(".") and folder not in _SKIPPED)
        for name in sorted(names):
            path = Path(place, name)
            if not path.is_symlink() and path.is_file():
                yield path
                count += 1
            if count >= _MOST_FILES:
                return


_HINT = "--work takes the folder of a checkout, a file, or a commit of the repository you are in."
