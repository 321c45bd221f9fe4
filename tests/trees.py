"""A folder tree kept in memory, and written as often as tests need a copy of it."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import struct
from contextlib import closing
from pathlib import Path
from typing import NamedTuple, Self

_INDEX = ".git/index"
_STATE = ".git/clawmem"
_SEARCH_INDEX = f"{_STATE}/index.sqlite"
_HEADER, _ENTRY, _PATH = 12, struct.Struct(">6I"), 62  # of git's index: where entries begin, and the path in an entry


class Tree(NamedTuple):
    """The folders of a tree with permissions, path, content, permissions and time of change (ns) of each file, and the
    symbolic links."""

    folders: list[tuple[str, int]]
    files: list[tuple[str, bytes, int, int]]
    links: list[tuple[str, str]]

    @classmethod
    def of(cls, root: Path) -> Self:
        """Read a tree of folders, regular files and links."""
        folders, files, links = [], [], []
        for place in sorted(root.rglob("*")):
            status, path = place.lstat(), str(place.relative_to(root))
            if place.is_symlink():
                links.append((path, str(place.readlink())))
            elif place.is_dir():
                folders.append((path, status.st_mode & 0o7777))
            else:
                files.append((path, place.read_bytes(), status.st_mode & 0o7777, status.st_mtime_ns))
        return cls(folders, files, links)

    def write(self, root: Path) -> Path:
        """Write the tree into a new folder, with permissions and times, and return it. To git no file has changed, and
        to clawmem neither the search index nor a YAML file that it has parsed."""
        root.mkdir(parents=True)
        for folder, mode in self.folders:
            os.mkdir(f"{root}/{folder}", mode)  # noqa: PTH102 - pathlib takes as long as the system
        statuses = {}
        for path, data, mode, changed in self.files:
            descriptor = os.open(f"{root}/{path}", os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
            try:
                os.fchmod(descriptor, mode)
                os.write(descriptor, data)
                os.utime(descriptor, ns=(changed, changed))
                statuses[path] = os.fstat(descriptor)
            finally:
                os.close(descriptor)
        for path, target in self.links:
            (root / path).symlink_to(target)
        _renew(root / _SEARCH_INDEX)
        for path in ("clawmem.yaml", "predicates.yaml"):
            if f"{_STATE}/{path}.json" in statuses and path in statuses:
                _restamp(root / _STATE / f"{path}.json", statuses[path])
        if _INDEX in statuses:
            index = root / _INDEX
            index.write_bytes(_refreshed(index.read_bytes(), statuses))
        return root


def _renew(search_index: Path) -> None:
    """Let a copied search index count as one that was built here: its identity ends with the inode of its file."""
    if not search_index.exists():
        return
    with closing(sqlite3.connect(search_index, isolation_level=None)) as database:
        (identity,) = database.execute("SELECT value FROM meta WHERE key = 'identity'").fetchone()
        renewed = f"{identity.rpartition(' ')[0]} {search_index.stat().st_ino}"
        database.execute("UPDATE meta SET value = ? WHERE key = 'identity'", (renewed,))


def _restamp(parsed: Path, status: os.stat_result) -> None:
    """Let the kept form of a YAML file count as that of its copy: its key ends with the inode of the file."""
    key, bracket, rest = parsed.read_bytes().partition(b"]")
    parsed.write_bytes(b"%s %d%s%s" % (key.rpartition(b" ")[0], status.st_ino, bracket, rest))


def _refreshed(index: bytes, statuses: dict[str, os.stat_result]) -> bytes:
    """Return git's index with inode and times of the files: otherwise git reads them all again in every command.

    Its extensions go, because the list of files that git does not know begins with the path of the vault."""
    data = bytearray(index[:-20])
    assert data[:8] == b"DIRC\0\0\0\2", "an index of another version"
    place = _HEADER
    for _ in range(int.from_bytes(data[8:12], "big")):
        end = data.index(0, place + _PATH)
        status = statuses[data[place + _PATH : end].decode()]
        changed, modified = divmod(status.st_ctime_ns, 10**9), divmod(status.st_mtime_ns, 10**9)
        _ENTRY.pack_into(data, place, *changed, *modified, status.st_dev & 0xFFFFFFFF, status.st_ino & 0xFFFFFFFF)
        place = end + 8 - (end - place) % 8
    return bytes(data[:place]) + hashlib.sha1(data[:place]).digest()
