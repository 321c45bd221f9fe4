"""A folder tree kept in memory, and written as often as tests need a copy of it."""

from __future__ import annotations

import hashlib
import os
import struct
from pathlib import Path
from typing import NamedTuple, Self

_INDEX = ".git/index"
_HEADER, _ENTRY, _PATH = 12, struct.Struct(">6I"), 62  # of git's index: where entries begin, and the path in an entry


class Tree(NamedTuple):
    """The folders of a tree, path, content, permissions and time of change (ns) of each file, and the symbolic links."""

    folders: list[str]
    files: list[tuple[str, bytes, int, int]]
    links: list[tuple[str, str]]

    @classmethod
    def of(cls, root: Path) -> Self:
        """Read a tree of folders, regular files and links."""
        folders, files, links = [], [], []
        for place in sorted(root.rglob("*")):
            status, path = place.lstat(), str(place.relative_to(root))
            if place.is_symlink():
                links.append((path, os.readlink(place)))
            elif place.is_dir():
                folders.append(path)
            else:
                files.append((path, place.read_bytes(), status.st_mode & 0o7777, status.st_mtime_ns))
        return cls(folders, files, links)

    def write(self, root: Path) -> Path:
        """Write the tree into a new folder, with permissions and times, and return it. To git no file has changed."""
        root.mkdir(parents=True)
        for folder in self.folders:
            os.mkdir(f"{root}/{folder}")  # noqa: PTH102 - pathlib takes as long as the system
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
            os.symlink(target, f"{root}/{path}")
        if _INDEX in statuses:
            index = root / _INDEX
            index.write_bytes(_refreshed(index.read_bytes(), statuses))
        return root


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
