"""Input from a file or from stdin, and JSON Lines with line numbers."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from shlex import quote
from typing import IO, TYPE_CHECKING, Any

from clawmem.errors import ExtensionMissing, InvalidInput, NotFound, Refused, StorageFailed
from clawmem.extension import answer_of
from clawmem.faces.parts.command import Call
from clawmem.model.records.strict_json import RECORD_BYTES, json_problem, read_json
from clawmem.model.transcripts.documents import ANSWER, MAILBOX, DocumentText, kind_of
from clawmem.platform.files import open_file
from clawmem.vault.disk import swap_in

if TYPE_CHECKING:
    from zipfile import ZipFile

HEAD_BYTES = 262_144
"""What of a file tells its format."""
MOST_DOCUMENT_BYTES = 200 << 20


def stdin_text(call: Call) -> str:
    """All of stdin as text; InvalidInput where it is not UTF-8 or a terminal."""
    o = call.stdin()
    if o is None:
        raise InvalidInput("There is no input on stdin.", "Pipe the text in: `echo 'a fact' | clawmem remember -`.")
    return _text(o.read(), "stdin", "Convert it to UTF-8 first.")


def file_or_stdin(call: Call, argument: str) -> str:
    """A file's text, or all of stdin where the argument is `-`."""
    if argument == "-":
        return stdin_text(call)
    with _open(argument) as file:
        return _text(file.read(), argument, "Convert it first.")


def document_or_text(call: Call, argument: str, name: str) -> str | DocumentText:
    """A file's text, or all of stdin where the argument is `-`; what is read from a document such as a PDF."""
    with opened(call, argument) as file:
        data = file.read(MOST_DOCUMENT_BYTES + 1)
    kind = kind_of(data[:HEAD_BYTES], name)
    if kind == MAILBOX:
        raise InvalidInput(f"{name} holds mails.", "`clawmem ingest` takes each of them as one event.")
    return read_document(call, data, kind, name) if kind else _text(data, name, "Convert it to UTF-8 first.")


def read_document(call: Call, data: bytes, kind: str, name: str) -> DocumentText:
    """What an extension reads from the bytes of a document. Raise ExtensionMissing if none reads them, InvalidInput if
    they are too many."""
    if len(data) > MOST_DOCUMENT_BYTES:
        raise InvalidInput(f"{name} has more than {MOST_DOCUMENT_BYTES >> 20} MB.", "Split it, and read the parts.")
    reads = answer_of(ANSWER)
    if reads is None:
        raise ExtensionMissing("documents")
    found: DocumentText = reads(data, kind, name, call.runtime.vault().settings)
    return found


def _text(data: bytes, name: str, hint: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        raise InvalidInput(f"{name} is not UTF-8 text (byte {problem.start}).", hint) from None


@contextmanager
def opened(call: Call, argument: str) -> Iterator[IO[bytes]]:
    """A file, or all of stdin where the argument is `-`, to be read in pieces and from its beginning again.

    What comes through a pipe is kept in a temporary file first: a slow writer does not block other commands.
    """
    o = call.stdin() if argument == "-" else _open(argument)
    if o is None:
        raise InvalidInput("There is no input on stdin.", "Pipe it in: `clawmem ingest - < chat.jsonl`.")
    with o as file:
        if file.seekable():
            yield file
            return
        with _kept(file) as copy:
            yield copy


def open_regular(path: Path) -> IO[bytes]:
    """Open a file to read, without waiting for anybody. Raise InvalidInput for a pipe, a device or a folder."""
    file = _open(str(path), open_file)
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise InvalidInput(f"{path} is not a regular file.", "Name a file.")
    return file


def _open(path: str, opener: Callable[[str, int], int] | None = None) -> IO[bytes]:
    """Open a file to read; the error on failure names this file and not the vault."""
    try:
        return open(path, "rb", opener=opener)
    except FileNotFoundError:
        raise NotFound(f"There is no file {path}.", "Name a file, or - for stdin.") from None
    except IsADirectoryError:
        raise InvalidInput(f"{path} is a folder.", "Name a file, or - for stdin.") from None
    except OSError as problem:
        raise StorageFailed(f"{path} cannot be read: {problem.strerror}.", "Name a file that you can read.") from None


def _kept(file: IO[bytes]) -> IO[bytes]:
    import shutil  # only for pipes
    import tempfile

    copy = tempfile.TemporaryFile()  # noqa: SIM115 - the caller closes it
    shutil.copyfileobj(file, copy)
    copy.seek(0)
    return copy


def json_lines(text: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Each JSON object with its 1-based line number; InvalidInput naming the line that is none."""
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            record = read_json(line)
        except ValueError as problem:
            raise InvalidInput(
                f"Line {number} is not JSON: {json_problem(problem)}.",
                "Nothing was stored; correct the line and try again.",
            ) from None
        if not isinstance(record, dict):
            raise InvalidInput(
                f"Line {number} is not a JSON object.", "Nothing was stored; correct the line and try again."
            )
        yield number, record


# Reading a file, a folder or a zip archive that another program wrote, within limits.

MOST_FILES = 50_000
MOST_BYTES = 512 << 20
_BLOCK_BYTES = 1 << 18
PAGES = (".md", ".markdown")
INGESTED = tuple(".csv .tsv .ics .vcf .mbox .eml .pdf .docx .pptx .epub .html .txt".split())
"""The ends of the names of files that `ingest` takes and `import` does not."""
_TEXTS = (*PAGES, ".json", ".jsonl", ".af")


def _left_out(name: str) -> str:
    for verb, endings in (("import", ".zip"), ("ingest", INGESTED)):
        if name.lower().endswith(endings):
            return f"`clawmem {verb} {quote(name)}` takes it"
    return "it is no Markdown and no JSON"


class NotUnpacked(InvalidInput):
    """A file of an archive is damaged, needs a password, or is compressed in a way that Python does not know."""


class ReadFiles(dict[str, str]):
    """Text files by their path below what was read; `left_out` says of the others why they were not read. `times` has
    the days on which files were last changed."""

    def __init__(self) -> None:
        super().__init__()
        self.left_out: dict[str, str] = {}
        self.times: dict[str, datetime] = {}
        self._bytes = 0

    def add(self, name: str, data: bytes) -> None:
        """Add a file, unless it is not UTF-8. Raise InvalidInput if all files together are beyond the limit."""
        self._bytes += len(data)
        if len(self) >= MOST_FILES or self._bytes > MOST_BYTES:
            limit = f"{MOST_FILES:,} files or {MOST_BYTES >> 20} MB"
            raise InvalidInput(f"There are more than {limit} to import.", "Import a part of them at a time.")
        try:
            self[name] = data.decode("utf-8-sig")
        except UnicodeDecodeError as problem:
            self.left_out[name] = f"it is not UTF-8 text (byte {problem.start})"


def read_files(path: Path) -> ReadFiles:
    """Return the Markdown and JSON files of a folder, or the one file. Links are not followed out of the folder.

    Raise NotFound if there is nothing at the path, StorageFailed if it cannot be read, InvalidInput for a pipe or a
    device.
    """
    found = ReadFiles()
    try:
        check_plain(path)
        if path.is_dir():
            for name, file in _walk(path):
                if name.lower().endswith(_TEXTS) and not file.is_symlink():
                    _add(found, name, file)
                elif not any(part.startswith(".") for part in name.split("/")):
                    found.left_out[name] = "it is a link" if file.is_symlink() else _left_out(name)
        else:
            _add(found, path.name, path)
    except FileNotFoundError:
        raise NotFound(f"There is no file or folder {path}.", "Name a file, a folder or a zip archive.") from None
    except OSError as problem:
        raise StorageFailed(f"{path} cannot be read: {problem.strerror}.", "Name a file that you can read.") from None
    return found


def _walk(root: Path) -> Iterator[tuple[str, Path]]:
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(each for each in folders if each not in (".git", ".trash", "node_modules"))
        for name in sorted(names):
            file = Path(folder) / name
            yield file.relative_to(root).as_posix(), file


def check_plain(path: Path) -> None:
    """Raise InvalidInput if there is something at the path that is no file and no folder, so may never end."""
    if path.exists() and not path.is_file() and not path.is_dir():
        raise InvalidInput(f"{path} is a pipe or a device.", "Name a file, a folder or a zip archive.")


def _add(found: ReadFiles, name: str, file: Path) -> None:
    size = file.stat().st_size
    found.times[name] = datetime.fromtimestamp(file.stat().st_mtime, UTC)
    if not file.is_file():
        found.left_out[name] = "it is a pipe or a device"
    elif size > RECORD_BYTES:
        found.left_out[name] = f"it has {size:,} bytes; the limit is {RECORD_BYTES:,}"
    else:
        found.add(name, file.read_bytes())


def open_archive(file: IO[bytes], name: str) -> ZipFile:
    """Open a zip archive. Raise InvalidInput if it is damaged."""
    import zipfile

    try:
        return zipfile.ZipFile(file)
    except (zipfile.BadZipFile, NotImplementedError):
        raise InvalidInput(f"{name} is not a whole zip archive.", "Download the export again.") from None


def unpacked(archive: ZipFile, name: str) -> Iterator[bytes]:
    """Yield the content of one file of an archive in blocks. Raise NotUnpacked."""
    import zlib
    from lzma import LZMAError
    from zipfile import BadZipFile

    try:
        with archive.open(name) as file:
            yield from iter(lambda: file.read(_BLOCK_BYTES), b"")
    except (BadZipFile, EOFError, OSError, RuntimeError, ValueError, LZMAError, zlib.error) as problem:
        raise NotUnpacked(f"it cannot be unpacked: {problem}") from None


def write_folder(folder: Path, files: Mapping[str, str], force: bool) -> None:
    """Write files into a folder, each in one step. Without `force`, the folder must be new or empty.

    Raise Refused if something is in the way, StorageFailed if the folder cannot be written.
    """
    try:
        if folder.exists() and any(folder.iterdir()) and not force:
            raise Refused(f"{folder} already exists.", "Name another place, or use --force.")
        for name, text in files.items():
            file = folder / name
            file.parent.mkdir(parents=True, exist_ok=True)
            swap_in(file.with_name(f".{file.name}.{os.getpid()}"), file, text.encode(), 0o666)
    except OSError as problem:
        raise StorageFailed(f"{folder} cannot be written: {problem.strerror}.", "Name another place.") from None


def write_lines(file: Path, lines: Iterable[str], force: bool) -> int:
    """Write a file line by line, in one step at the end; returns the number of lines.

    Raise Refused if the file exists and `force` is not set, StorageFailed if it cannot be written.
    """
    if file.exists() and not force:
        raise Refused(f"{file} already exists.", "Name another place, or use --force.")
    half, number = file.with_name(f".{file.name}.{os.getpid()}"), 0
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with half.open("w", encoding="utf-8", newline="\n") as out:
            for line in lines:
                out.write(f"{line}\n")
                number += 1
        half.replace(file)
    except OSError as problem:
        raise StorageFailed(f"{file} cannot be written: {problem.strerror}.", "Name another place.") from None
    finally:
        half.unlink(missing_ok=True)
    return number
