"""Reading blobs from `git cat-file --batch`, which says how large each is before it sends it."""

from __future__ import annotations

import os
import selectors
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from clawmem.errors import GitFailed
from clawmem.model.records.strict_json import LOWEST_FILE_LIMIT, UnreadFile

if TYPE_CHECKING:
    import subprocess

Limit = Callable[[str], int]
"""Returns the most bytes that are read of a name."""

# What a pipe takes at once without blocking, and what is read from one at once.
_WRITTEN, _READ = 4096, 1 << 18
_DAMAGED = "Run `clawmem doctor --full`; restore the vault from a backup or another clone."


class GitStream:
    """A running git that gets its input while its output is read, so that neither waits for the other.

    `errors` is its stderr. `on_silence` is called once, if git sends nothing for `patience` seconds.
    """

    def __init__(
        self, process: subprocess.Popen[bytes], data: bytes, patience: float, on_silence: Callable[[], None]
    ) -> None:
        self.errors = bytearray()
        self._process = process
        self._given = memoryview(data)
        self._patience: float | None = patience
        self._on_silence = on_silence

    def pieces(self) -> Iterator[bytes]:
        """Yield the output in pieces."""
        process = self._process
        assert process.stdin and process.stdout and process.stderr
        if sys.platform == "win32":  # nothing waits for several pipes there, so all of the output is held in memory
            output, errors = process.communicate(bytes(self._given))
            self.errors += errors
            yield output
            return
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdin, selectors.EVENT_WRITE)
            selector.register(process.stdout, selectors.EVENT_READ)
            selector.register(process.stderr, selectors.EVENT_READ)
            while selector.get_map():
                ready = selector.select(self._patience)
                if not ready:
                    self._patience = None
                    self._on_silence()
                for key, _ in ready:
                    stream = key.fileobj
                    if stream is process.stdin:
                        if not self._feed():
                            selector.unregister(stream)
                            process.stdin.close()
                        continue
                    piece = os.read(key.fd, _READ)
                    if not piece:
                        selector.unregister(stream)
                        stream.close()  # type: ignore[union-attr, unused-ignore]
                    elif stream is process.stderr:
                        self.errors += piece
                    elif stream is process.stdout:
                        yield piece

    def _feed(self) -> bool:
        """Write some of the input. Return whether there is more."""
        assert self._process.stdin
        try:
            number = os.write(self._process.stdin.fileno(), self._given[:_WRITTEN])
        except BrokenPipeError:
            return False
        self._given = self._given[number:]
        return bool(self._given)


class _Reader:
    """Takes lines and counted bytes from pieces of output."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._held = b""
        self._at = 0

    def line(self) -> bytes:
        """Return the next line without its end."""
        while (end := self._held.find(b"\n", self._at)) < 0:
            self._held = self._held[self._at :] + self._next()
            self._at = 0
        found = self._held[self._at : end]
        self._at = end + 1
        return found

    def take(self, size: int) -> bytes:
        """Return so many bytes."""
        return b"".join(self._counted(size))

    def skip(self, size: int) -> None:
        """Drop so many bytes, without keeping them."""
        for _ in self._counted(size):
            pass

    def _counted(self, size: int) -> Iterator[bytes]:
        while size > 0:
            if self._at == len(self._held):
                self._held, self._at = self._next(), 0
            piece = self._held[self._at : self._at + size]
            self._at += len(piece)
            size -= len(piece)
            yield piece

    def _next(self) -> bytes:
        piece = next(self._pieces, b"")
        if not piece:
            raise GitFailed("git cat-file failed: its output ended early.", _DAMAGED)
        return piece


def read_answers(
    pieces: Iterator[bytes], names: Sequence[str], limit_of: Limit, checked: bool
) -> dict[str, bytes | None]:
    """Return the contents that `cat-file --batch` sends for names: None for each that is missing, and an UnreadFile for
    each beyond its limit.

    With `checked`, verify contents against their hashes. Raise GitFailed if the output ends early.
    """
    reader = _Reader(pieces)
    found: dict[str, bytes | None] = {}
    for name in names:
        header = reader.line().split(b" ")
        if header[-1] in (b"missing", b"ambiguous"):
            found[name] = None
            continue
        size = int(header[-1])
        limit = limit_of(name) if size > LOWEST_FILE_LIMIT else LOWEST_FILE_LIMIT
        if size > limit:
            reader.skip(size)
            found[name] = UnreadFile.of(header[0].decode(), size, limit)
        else:
            found[name] = data = reader.take(size)
            if checked:
                _check_hash(name, header[0], header[1], data)
        reader.skip(1)
    return found


def limit_by_path(name: str) -> int:
    """Return the limit of the kind of file that a `commit:path` or a `:stage:path` names."""
    from clawmem.model.kinds import handling  # few files are large

    return handling(name.split(":", 2 if name.startswith(":") else 1)[-1]).limit


def limits_by_blob(paths: Mapping[str, Sequence[str]]) -> Limit:
    """Return the limit of blobs that stand at some paths: the highest of their kinds."""

    def limit(blob: str) -> int:
        from clawmem.model.kinds import handling

        return max(handling(path).limit for path in paths[blob])

    return limit


def _check_hash(name: str, object_id: bytes, kind: bytes, data: bytes) -> None:
    """Raise GitFailed if contents do not match their hash."""
    import hashlib  # not needed by reads that use only the index

    digest = hashlib.sha1 if len(object_id) == 40 else hashlib.sha256
    if digest(b"%s %d\0" % (kind, len(data)) + data).hexdigest().encode() != object_id:
        raise GitFailed(f"git's copy of {name.partition(':')[2] or name} is damaged.", _DAMAGED)
