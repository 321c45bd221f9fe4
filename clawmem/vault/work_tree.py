"""The work tree: finding edits made by hand, for which git compares it with HEAD while other work goes on, and writing
single files.
"""

import os
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from clawmem.errors import ClawmemError, Locked
from clawmem.model.named_tuple import NamedTuple
from clawmem.model.records.entity import ITEMS
from clawmem.model.records.layout import OWNED_FOLDERS, is_owned
from clawmem.model.records.strict_json import UnreadFile
from clawmem.platform.files import OPEN_FILES_MOVE, open_file
from clawmem.vault.disk import staged_path
from clawmem.vault.vault import Vault

if TYPE_CHECKING:
    import subprocess

_READ_ROOMS = ("life", "daily", "agents")
_READ_PAGE = "MEMORY.md"
_LOOKED = "edits-looked-for"


def may_be_edited(vault: Vault) -> bool:
    """Return whether a page or a file of facts changed after `mark_looked`. Where nothing was looked for yet, the time
    of git's index counts; else it does not: `git status` renews it.

    Only times are compared, so this starts no process and reads no file."""
    since = _changed(vault.state / _LOOKED) or _changed(vault.git_dir / "index")
    folders = [str(vault.root / room) for room in _READ_ROOMS]
    if _changed(vault.root / _READ_PAGE) > since:
        return True
    while folders:
        folder = folders.pop()
        try:
            if os.stat(folder).st_mtime_ns > since:  # noqa: PTH116 - on every reader's path
                return True
            with os.scandir(folder) as entries:
                for entry in entries:
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
                    elif entry.stat(follow_symlinks=False).st_mtime_ns > since:
                        return True
        except OSError:
            continue
    return False


def mark_looked(vault: Vault) -> None:
    """Note that edits by hand up to now were looked for, so that readers do not look for the same ones again."""
    (vault.state / _LOOKED).touch()


def _changed(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


def update_file(vault: Vault, path: str, before: bytes | None, after: bytes | None) -> bool:
    """Change one file of the work tree from `before` to `after` (None: no file).

    Return False, and keep the edit, if it contains neither: then somebody edited it. Text that a program wrote into the
    old file at the moment of the change is an edit, too. What was only added at the end is added to `after`.
    """
    if vault.obstacle(path) is not None:
        return after is None and before is None
    old = None if before is None else _opened(vault.path(path))
    try:
        current = vault.read(path)
        if current == after:
            return True
        if current != before:
            edited = _on_top(path, before, after, current)
            if edited != current:
                write_file(vault, path, edited)
            return False
        write_file(vault, path, after)
        return old is None or isinstance(before, UnreadFile) or not _written_late(vault, path, old, before, after)
    finally:
        if old is not None:
            os.close(old)


def _opened(path: Path) -> int | None:
    try:
        return open_file(path, os.O_RDONLY, follow=False) if OPEN_FILES_MOVE else None
    except OSError:
        return None


def _written_late(vault: Vault, path: str, old: int, before: bytes | None, after: bytes | None) -> bool:
    """Put back what a program wrote into the replaced file, which is open as `old`, after it was compared."""
    late = os.read(old, os.fstat(old).st_size + 1)
    if late == before or vault.read(path) != after:
        return False
    write_file(vault, path, _on_top(path, before, after, late))
    return True


def _on_top(path: str, before: bytes | None, after: bytes | None, edited: bytes | None) -> bytes | None:
    """Return an edit as an edit of `after`, where text was only added at the end, or facts were changed that differ in
    nothing else; otherwise the edit itself."""
    if not before or after is None or not edited or any(isinstance(o, UnreadFile) for o in (before, after, edited)):
        return edited
    if path.rpartition("/")[2] == ITEMS:
        return _facts_on_top(path, before, after, edited)
    if not edited.startswith(before) or path.endswith(".json"):
        return edited
    return after + edited[len(before) :]


def _facts_on_top(path: str, before: bytes, after: bytes, edited: bytes) -> bytes | None:
    """Return an edit of a file of facts with the facts that the change wrote: a `git commit -a` would take them out."""
    from clawmem.model.merging.files import merge_file  # only for an edit at the moment of a change

    try:
        merged = merge_file(path, before, after, edited)
    except ClawmemError:
        return edited
    return edited if merged.conflicts else merged.content


def write_file(vault: Vault, path: str, content: bytes | None) -> None:
    """Write one file of the work tree. With None, remove it and the folders that are empty then."""
    target = vault.path(path)
    if isinstance(content, UnreadFile):
        _write_blob(vault, target, content.blob)
        return
    if content is not None:
        vault.disk.replace(target, content, vault.state)
        return
    vault.disk.remove(target)
    folder = target.parent
    while folder != vault.root:
        try:
            folder.rmdir()
        except OSError:
            return  # not empty, which is the usual end
        folder = folder.parent


def _write_blob(vault: Vault, target: Path, blob: str) -> None:
    """Write a file too large to be read, by letting git write it aside."""
    aside = staged_path(vault.state)
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        aside.unlink(missing_ok=True)
        with open(open_file(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666), "wb") as file:  # noqa: PTH123
            for piece in vault.git.stream("cat-file", "blob", blob):
                file.write(piece)
        vault.disk.move(aside, target)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise


class ReadSet:
    """The files that an operation has read from the work tree, and those it has written."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault
        self._read: dict[str, bytes | None] = {}
        self._released: dict[str, bytes] = {}
        self._verified: set[str] = set()

    def __getitem__(self, path: str) -> bytes | None:
        return self._read[path]

    def read(self, path: str) -> bytes | None:
        """Return a file as of the first read here. Raise Locked if it was edited after `release`."""
        if path not in self._read:
            data = self._vault.read(path)
            if path in self._released and self._released[path] != _digest(data):
                raise Locked(f"{path} was edited while this ran.", "Run the command again.")
            self._read[path] = data
        return self._read[path]

    def record_written(self, final: Mapping[str, bytes | None]) -> None:
        """Record what was committed as the current contents of these files."""
        self._read.update(final)

    def release(self) -> None:
        """Forget the contents to free memory after each commit. Edits are still noticed, by digest."""
        self._released.update({path: _digest(data) for path, data in self._read.items()})
        self._read.clear()

    def mark_verified(self, path: str) -> None:
        """Record that a file matches HEAD because the caller has compared it."""
        self._verified.add(path)

    def holds(self, pieces: Iterable[bytes]) -> bool:
        """Return whether a file that was read contains one of the pieces."""
        wanted = tuple(pieces)
        return any(piece in data for data in self._read.values() if data for piece in wanted)

    def refuse_edited(self, paths: Collection[str]) -> None:
        """Raise Locked if a file to be written differs from what was read, or from HEAD."""
        unread = [path for path in paths if path not in self._read]
        self._read.update(dict.fromkeys(unread))
        if any(self._vault.read(path) is not None for path in unread):
            # Not read before: only the contents of HEAD may be replaced.
            self._read.update(self._vault.committed(unread))
        for path in paths:
            if self._vault.read(path) != self._read[path]:
                raise Locked(f"{path} was edited while this ran; nothing was written.", "Run the command again.")
        self._refuse_altered(paths)

    def _refuse_altered(self, paths: Collection[str]) -> None:
        """Raise Locked if a file that git reports as unchanged differs from HEAD.

        git compares times and sizes. If a disk alters a byte, both stay the same.
        """
        unverified = [path for path in paths if self._read[path] is not None and path not in self._verified]
        # Unchecked, so that a damaged git object is noticed as a difference.
        for path, data in self._vault.committed(unverified, checked=False).items():
            if data is not None and data != self._read[path]:
                raise Locked(
                    f"{path} differs from its last commit: it was edited while this ran, or the disk altered it;"
                    " nothing was written.",
                    "Run the command again; if it says the same, run `clawmem doctor`.",
                )


def _digest(data: bytes | None) -> bytes:
    import hashlib  # only operations with many commits need it

    return b"" if data is None else hashlib.sha256(data).digest()


# `normal` reports a new folder, not its files.
_STATUS = ("status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=normal", "--ignore-submodules=all")
_AT_ONCE = 200


class HandEdits(NamedTuple):
    """Files of clawmem that differ from HEAD.

    `good` are those that can be committed, with their contents (None: deleted). `bad` are the others, with the reason.
    """

    good: Mapping[str, bytes | None]
    bad: tuple[tuple[str, ClawmemError], ...]


def start_scan(vault: Vault) -> "subprocess.Popen[bytes]":
    """Start git looking for changed files."""
    return vault.git.start(*_STATUS)


def finish_scan(vault: Vault, scan: "subprocess.Popen[bytes]") -> tuple[str, ...]:
    """Return clawmem's files that differ from HEAD, including new and deleted ones."""
    printed = vault.git.finish(scan, "status").decode(errors="surrogateescape")
    paths = {entry[3:] for entry in printed.split("\0")}
    folders = [path for path in paths if path.endswith("/") and path.startswith(OWNED_FOLDERS)]
    if folders:
        paths |= _new_files(vault, folders)
    return tuple(sorted(path for path in paths if is_owned(path)))


def _new_files(vault: Vault, folders: Iterable[str]) -> set[str]:
    """Return the untracked files in new folders, without ignored files and nested repositories."""
    names = [f":(literal){folder}" for folder in folders]
    found: set[str] = set()
    # There may be more new folders than one command line can hold.
    for start in range(0, len(names), _AT_ONCE):
        some = names[start : start + _AT_ONCE]
        printed = vault.git.run("ls-files", "-z", "--others", "--exclude-standard", "--", *some)
        found.update(printed.decode(errors="surrogateescape").split("\0"))
    return found
