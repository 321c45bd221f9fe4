"""The files below `.git/clawmem/` are plain files of their own: no links, no pipes or devices, no second names.

A vault may have been handed over as an archive. What clawmem would write, remove or wait for through such a file lies
outside the vault, so each is refused by name.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from clawmem.errors import Refused, StorageFailed
from clawmem.vault.disk import not_regular_file, read_regular_file, refuse_hard_link

_JOURNAL = "-journal"
# How a SQLite journal ends that names another file, which SQLite would remove.
_NAMES_ANOTHER = bytes.fromhex("d9d505f920a163d7")
_PAST = "at"


def check_state_folder(state: Path) -> None:
    """Raise Refused where a file of clawmem's own folder is no plain file of its own."""
    if not check_folder(state):
        return
    for entry in walk_files(state, leaving_out=_PAST):
        if entry.is_symlink() and _leads_to_an_index(entry):
            continue
        check_file(entry)
        if entry.name.endswith(_JOURNAL):
            _check_journal(entry)


def check_file(entry: os.DirEntry[str], second_names: bool = True) -> None:
    """Raise Refused where an entry of a folder is no plain file, or has another name as well."""
    if entry.is_symlink():
        raise symlink_error(entry.path)
    if not entry.is_file(follow_symlinks=False):
        raise not_regular_file(entry.path)
    if second_names:
        with suppress(FileNotFoundError):  # another process's, which is done with it
            refuse_hard_link(entry.stat(follow_symlinks=False), entry.path)


def walk_files(folder: Path | str, leaving_out: str | None = None) -> Iterator[os.DirEntry[str]]:
    """Every entry below a folder that is no folder itself; one folder at the top is left out."""
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
    """What stands in a folder; nothing where it is gone, as git clears away its own."""
    try:
        with os.scandir(folder) as found:
            yield from found
    except (FileNotFoundError, NotADirectoryError):
        return
    except PermissionError as problem:
        raise StorageFailed(f"{folder} cannot be read: {problem.strerror}.", "Allow yourself to read it.") from None


def symlink_error(path: str) -> Refused:
    """The error for a link in the place of a file or a folder."""
    return Refused(
        f"{path} is a symbolic link, so what is written there would go elsewhere.",
        "Delete the link, or put the file or folder itself in its place.",
    )


def _check_journal(entry: os.DirEntry[str]) -> None:
    if (read_regular_file(entry.path) or b"").endswith(_NAMES_ANOTHER):
        raise Refused(f"{entry.path} names a file of another database.", "Delete it: the index is made anew.")


def _leads_to_an_index(entry: os.DirEntry[str]) -> bool:
    """Whether it is the link that says which search index is in use, or the one that will replace it."""
    try:
        target = os.readlink(entry.path)  # noqa: PTH115 - a text
    except FileNotFoundError:
        return True  # put in place meanwhile
    named = entry.name == "index.sqlite" or (entry.name.startswith("index-") and entry.name.endswith(".link"))
    return named and "/" not in target and target.startswith("index-") and target.endswith(".sqlite")


def check_folder(place: Path) -> bool:
    """Whether there is a folder; Refused where a link or a file stands in its place."""
    try:
        mode = os.lstat(place).st_mode
    except (FileNotFoundError, NotADirectoryError):
        return False
    if stat.S_ISLNK(mode):
        raise symlink_error(str(place))
    if not stat.S_ISDIR(mode):
        raise Refused(f"{place} is a file where a folder should be.", "Move it out of the way.")
    return True
