"""Write the files of a site to a folder: what is new or differs, and no file of others."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from clawmem.errors import InvalidInput, StorageFailed
from clawmem.model.progress import OnProgress, Progress
from clawmem.vault.vault import Vault

RECORD = "clawmem-site.json"
"""The file in a site's folder that lists the site's files. Only a folder with it, or an empty one, is written to."""


class SiteBuild(NamedTuple):
    """The number of files of a site and their size in bytes, and how many files were written and removed."""

    files: int
    size: int
    written: int
    removed: int


def check_site_folder(vault: Vault, folder: Path) -> None:
    """Raise InvalidInput for a folder in the vault, a file, or a folder that contains anything but a site."""
    if folder.is_relative_to(vault.root.resolve()):
        raise InvalidInput(f"{folder} is inside the vault.", "Name a folder outside it, such as ~/memory-site.")
    try:
        foreign = folder.exists() and not (folder / RECORD).is_file() and (not folder.is_dir() or any(folder.iterdir()))
    except OSError as error:
        raise StorageFailed(f"{folder} cannot be read: {error.strerror}.", "Name another folder.") from None
    if foreign:
        raise InvalidInput(f"{folder} exists and is not a site of clawmem.", "Name a new or an empty folder.")


_Files = Iterable[tuple[str, bytes]]


def write_site(folder: Path, files: _Files, report: OnProgress | None = None, expected: int = 0) -> SiteBuild:
    """Write the files that differ from those in the folder, and remove what an earlier site left there. The folder must
    have passed `check_site_folder`.

    `report` gets the number of files made, of about `expected`. Raise StorageFailed if a file cannot be written."""
    try:
        return _write(folder, _counted(files, report, expected))
    except OSError as error:
        place = error.filename or folder
        raise StorageFailed(f"{place} cannot be written: {error.strerror}.", "The site is incomplete.") from None


def _counted(files: _Files, report: OnProgress | None, expected: int) -> Iterator[tuple[str, bytes]]:
    for number, made in enumerate(files):
        if report is not None:
            report(Progress("site: writing", number, max(expected, number), "files"))
        yield made


def _write(folder: Path, files: _Files) -> SiteBuild:
    folder.mkdir(parents=True, exist_ok=True)
    before = _files(folder)
    now: dict[str, int] = {}
    # Until the build is done, the folder is known as a site.
    _record(folder, before)
    written = 0
    for path, content in files:
        now[path] = len(content)
        written += _written(folder / path, content)
    stale = [path for path in sorted(before - now.keys()) if (folder / path).resolve().is_relative_to(folder)]
    for path in stale:
        (folder / path).unlink(missing_ok=True)
    _record(folder, now)
    return SiteBuild(len(now), sum(now.values()), written, len(stale))


def _written(path: Path, content: bytes) -> bool:
    """Write a file unless it has this content; return whether it was written."""
    if path.is_file() and path.read_bytes() == content:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return True


def _files(folder: Path) -> set[str]:
    """Return the files of the last build. Earlier versions recorded them with their sizes."""
    try:
        files = json.loads((folder / RECORD).read_text("utf-8"))["files"]
    except (FileNotFoundError, ValueError, TypeError, KeyError):
        return set()
    return {path for path in files if isinstance(path, str)} if isinstance(files, list | dict) else set()


def _record(folder: Path, files: Iterable[str]) -> None:
    (folder / RECORD).write_text(json.dumps({"files": sorted(files)}) + "\n", "utf-8")
