"""The files as an act saw them, so that an edit made by hand since is noticed before anything is written over it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from clawmem.errors import Locked
from clawmem.vault.vault import Vault


class ReadSet:
    """What an act has read of the work tree, and what it wrote there itself."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault
        self._read: dict[str, bytes | None] = {}
        self._released: dict[str, bytes] = {}
        self._verified: set[str] = set()

    def __getitem__(self, path: str) -> bytes | None:
        return self._read[path]

    def read(self, path: str) -> bytes | None:
        """A file as it is, or as it was when it was first read here."""
        if path not in self._read:
            data = self._vault.read(path)
            if path in self._released and self._released[path] != _digest(data):
                raise Locked(f"{path} was edited while this ran.", "Run the command again.")
            self._read[path] = data
        return self._read[path]

    def record_written(self, final: Mapping[str, bytes | None]) -> None:
        """Take what was committed for what stands there."""
        self._read.update(final)

    def release(self) -> None:
        """Forget the contents read and written so far, to need no more memory with every commit; an edit by hand is
        noticed all the same."""
        self._released.update({path: _digest(data) for path, data in self._read.items()})
        self._read.clear()

    def mark_verified(self, path: str) -> None:
        """Count a file, as it was read, as what HEAD holds: the caller compared it with what he keeps of HEAD."""
        self._verified.add(path)

    def holds(self, pieces: Iterable[bytes]) -> bool:
        """Whether one of the pieces stands in a file that was read."""
        wanted = tuple(pieces)
        return any(piece in data for data in self._read.values() if data for piece in wanted)

    def refuse_edited(self, paths: Collection[str]) -> None:
        """Raise Locked where one of the files to be written is not what was read, or not what HEAD holds."""
        blind = [path for path in paths if path not in self._read]
        self._read.update(dict.fromkeys(blind))
        if any(self._vault.read(path) is not None for path in blind):
            # Written without having been read: only what HEAD holds may be replaced.
            head = self._vault.head().commit
            self._read.update(self._vault.contents_at(head, blind) if head else {})
        for path in paths:
            if self._vault.read(path) != self._read[path]:
                raise Locked(f"{path} was edited while this ran; nothing was written.", "Run the command again.")
        self._refuse_altered(paths)

    def _refuse_altered(self, paths: Collection[str]) -> None:
        """What git took for unchanged must be what HEAD holds: git looks at a file's times and size, and a disk that
        alters a byte changes neither."""
        standing = [path for path in paths if self._read[path] is not None and path not in self._verified]
        head = self._vault.head().commit
        if head is None or not standing:
            return
        # Compared whole, so that a damaged object of git's shows as well.
        for path, data in self._vault.contents_at(head, standing, checked=False).items():
            if data is not None and data != self._read[path]:
                raise Locked(
                    f"{path} is not what its last commit holds: it was edited while this ran, or the disk altered it;"
                    " nothing was written.",
                    "Run the command again; if it says the same, run `clawmem doctor`.",
                )


def _digest(data: bytes | None) -> bytes:
    import hashlib  # only acts of many commits need it

    return b"" if data is None else hashlib.sha256(data).digest()
