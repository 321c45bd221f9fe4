"""The files that an operation has read, so that it notices later edits before it writes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from clawmem.errors import Locked
from clawmem.vault.vault import Vault


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
            head = self._vault.head().commit
            self._read.update(self._vault.contents_at(head, unread) if head else {})
        for path in paths:
            if self._vault.read(path) != self._read[path]:
                raise Locked(f"{path} was edited while this ran; nothing was written.", "Run the command again.")
        self._refuse_altered(paths)

    def _refuse_altered(self, paths: Collection[str]) -> None:
        """Raise Locked if a file that git reports as unchanged differs from HEAD.

        git compares times and sizes. If a disk alters a byte, both stay the same.
        """
        unverified = [path for path in paths if self._read[path] is not None and path not in self._verified]
        head = self._vault.head().commit
        if head is None or not unverified:
            return
        # Unchecked, so that a damaged git object is noticed as a difference.
        for path, data in self._vault.contents_at(head, unverified, checked=False).items():
            if data is not None and data != self._read[path]:
                raise Locked(
                    f"{path} differs from its last commit: it was edited while this ran, or the disk altered it;"
                    " nothing was written.",
                    "Run the command again; if it says the same, run `clawmem doctor`.",
                )


def _digest(data: bytes | None) -> bytes:
    import hashlib  # only operations with many commits need it

    return b"" if data is None else hashlib.sha256(data).digest()
