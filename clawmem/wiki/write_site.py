"""Write the files of a site to a folder: what is new or differs, and no file of others."""

from __future__ import annotations

import json
from collections.abc import Iterable
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


def write_site(
    folder: Path, files: Iterable[tuple[str, bytes]], pages: int = 0, report: OnProgress | None = None
) -> SiteBuild:
    """Write the files that differ from those in the folder, and remove what an earlier site left there. The folder must
    have passed `check_site_folder`. `report` gets the number of files written, of about `pages`.

    Raise StorageFailed if a file cannot be written."""
    try:
        return _write(folder, files, pages, report)
    except OSError as error:
        place = error.filename or folder
        raise StorageFailed(f"{place} cannot be written: {error.strerror}.", "The site is incomplete.") from None


def _write(folder: Path, files: Iterable[tuple[str, bytes]], pages: int, report: OnProgress | None) -> SiteBuild:
    folder.mkdir(parents=True, exist_ok=True)
    before = _recorded(folder)
    # From here on, a folder with half a site is known as one.
    if not before:
        _record(folder, before)
    now: set[str] = set()
    size = written = 0
    for path, content in files:
        if report is not None:
            report(Progress("site: writing", len(now), max(pages, len(now)), "files"))
        now.add(path)
        size += len(content)
        written += _written(folder / path, content)
    stale = [path for path in sorted(before - now) if _is_inside(folder, path)]
    for path in stale:
        (folder / path).unlink(missing_ok=True)
    _record(folder, now)
    return SiteBuild(len(now), size, written, len(stale))


def _written(path: Path, content: bytes) -> bool:
    """Write a file unless it has this content; return whether it was written."""
    if path.is_file() and path.read_bytes() == content:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return True


def _recorded(folder: Path) -> set[str]:
    try:
        found = json.loads((folder / RECORD).read_text("utf-8"))
        return {path for path in found["files"] if isinstance(path, str)}
    except (FileNotFoundError, ValueError, KeyError, TypeError):
        return set()


def _record(folder: Path, files: set[str]) -> None:
    (folder / RECORD).write_text(json.dumps({"files": sorted(files)}, indent=0) + "\n", "utf-8")


def _is_inside(folder: Path, path: str) -> bool:
    return (folder / path).resolve().is_relative_to(folder)
