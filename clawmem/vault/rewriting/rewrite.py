"""Rewriting all history with some bytes changed: export, change and import as one stream. Old commits stay
untouched."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, NamedTuple

from clawmem.vault.disk import PARTIAL_PREFIX
from clawmem.vault.git.git import git_error
from clawmem.vault.vault import Vault

# New commits are created below this ref. The branches move later, in one step.
REWRITTEN_REFS = "refs/clawmem/redacting/"
_EXPORT = ("fast-export", "--show-original-ids", "--reencode=no", "--signed-tags=strip", "--use-done-feature")
_IMPORT = ("-c", "fastimport.unpackLimit=1", "fast-import", "--quiet", "--done", "--force")

ContentChange = Callable[[bytes], bytes]


class RewriteResult(NamedTuple):
    """The result of a rewrite or its preview.

    `held` are the commits that contained what was changed, oldest first. `renamed` counts the commits that get a new
    name. `names` maps old names to new ones, empty for a preview.
    """

    held: tuple[str, ...]
    renamed: int
    names: dict[str, str]


class _StreamReader:
    """Applies the change to every blob, message and path of the stream, and records the affected commits."""

    def __init__(self, stream: IO[bytes], change: ContentChange) -> None:
        self._stream = stream
        self._change = change
        self._blobs: set[bytes] = set()
        self._of_blob = False
        self._mark = b""
        self._held: dict[str, None] = {}
        self._renamed: set[bytes] = set()
        self.commits: dict[str, str] = {}

    def pieces(self) -> Iterator[bytes]:
        """Yield the changed stream."""
        for line in iter(self._stream.readline, b""):
            if line.startswith(b"data "):
                yield from self._data(int(line[5:]))
            else:
                yield self._line(line)

    @property
    def held(self) -> tuple[str, ...]:
        """The commits that the change affects."""
        return tuple(self._held)

    @property
    def renamed(self) -> int:
        """How many commits change, including those that only have a changed ancestor."""
        return len(self._renamed)

    def _data(self, size: int) -> Iterator[bytes]:
        data = self._stream.read(size)
        changed = self._change(data)
        if changed != data:
            if self._of_blob:
                self._blobs.add(self._mark)
            else:
                self._record_affected()
        yield b"data %d\n" % len(changed)
        yield changed

    def _line(self, line: bytes) -> bytes:
        word, _, rest = line.partition(b" ")
        if line == b"blob\n" or word == b"commit":
            self._of_blob = line == b"blob\n"
        if word in (b"commit", b"reset"):
            return word + b" " + REWRITTEN_REFS.encode() + rest.removeprefix(b"refs/")
        if word == b"mark":
            self._mark = rest.strip()
        elif word == b"original-oid" and not self._of_blob:
            self.commits[self._mark.decode()] = rest.strip().decode()
        elif word in (b"from", b"merge") and rest.strip() in self._renamed:
            self._renamed.add(self._mark)
        elif word in (b"M", b"D"):
            return self._file(line)
        elif word in (b"author", b"committer", b"tagger"):
            return self._person(word, rest)
        return line

    def _file(self, line: bytes) -> bytes:
        parts = line.split(b" ", 3)
        if parts[0] == b"M" and parts[2] in self._blobs:
            self._record_affected()
        changed = self._change(line)
        if changed != line:
            self._record_affected()
            return line.replace(parts[-1], self._change(parts[-1]).replace(b"[redacted]", b"redacted"))
        return line

    def _person(self, word: bytes, rest: bytes) -> bytes:
        """Change the name and address of an author, which contain no angle brackets."""
        name, _, others = rest.rpartition(b" <")
        address, _, when = others.partition(b"> ")
        changed = self._change(name) + b" <" + self._change(address) + b"> " + when
        if changed != rest and self._mark.decode() in self.commits:
            self._record_affected()
        return word + b" " + changed

    def _record_affected(self) -> None:
        self._held[self.commits[self._mark.decode()]] = None
        self._renamed.add(self._mark)


def preview_rewrite(vault: Vault, refs: Sequence[str], change: ContentChange) -> RewriteResult:
    """Return what a rewrite would change, without writing."""
    with vault.git.start(*_EXPORT, *refs) as exporter:
        assert exporter.stdin and exporter.stdout and exporter.stderr
        exporter.stdin.close()
        reader = _StreamReader(exporter.stdout, change)
        for _ in reader.pieces():
            pass
        complaint = exporter.stderr.read()
    if exporter.returncode != 0:
        raise git_error(_EXPORT[0], exporter.returncode, complaint)
    return RewriteResult(reader.held, reader.renamed, {})


def rewrite(vault: Vault, refs: Sequence[str], change: ContentChange) -> RewriteResult:
    """Write the history of these refs with the change to `refs/clawmem/redacting/`. The refs themselves do not move."""
    marks = vault.state / f"{PARTIAL_PREFIX}marks"
    importing = (*_IMPORT, f"--export-marks={marks}")
    with vault.git.start(*_EXPORT, *refs) as exporter, vault.git.start(*importing) as importer:
        assert exporter.stdin and exporter.stdout and exporter.stderr and importer.stdin and importer.stderr
        exporter.stdin.close()
        reader = _StreamReader(exporter.stdout, change)
        with suppress(BrokenPipeError):  # git failed; its message is read below
            for piece in reader.pieces():
                importer.stdin.write(piece)
        with suppress(BrokenPipeError):
            importer.stdin.close()
        complaint = importer.stderr.read()
        exporter.kill()
    if importer.returncode != 0:
        raise git_error("fast-import", importer.returncode, complaint)
    new = dict(_marks(marks))
    marks.unlink()
    return RewriteResult(reader.held, reader.renamed, {old: new[mark] for mark, old in reader.commits.items()})


def _marks(path: Path) -> Iterator[tuple[str, str]]:
    for line in path.read_text().splitlines():
        mark, _, name = line.partition(" ")
        yield mark, name
