"""Files below `.git/clawmem/` must be regular files without links, pipes, devices or second hard links.

A vault may come from somebody else as an archive. Through such a file clawmem would write, delete or wait outside the
vault, so each one is refused by name.
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
