"""Write the files of a site to a folder: what is new or differs, and no file of others."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from clawmem.errors import InvalidInput, StorageFailed
from clawmem.extensions.wiki.gather import WikiState
from clawmem.extensions.wiki.values.page import HandLinks, PageEntry
from clawmem.model.progress import OnProgress, Progress
from clawmem.vault.vault import Vault

RECORD = "clawmem-site.json"
"""The file in a site's folder that lists the site's files. Only a folder with it, or an empty one, is written to."""


_FORM = 2


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


class SiteState(NamedTuple):
    """What a build left in a folder: the commit, the day, the pages and the links by people that it showed, a digest of
    the paths that links could lead to, the entities and topic pages with notes, the titles of people's files (None for
    generated ones), and the site's files with their sizes in bytes."""

    wiki: WikiState
    known: str
    noted: Sequence[str]
    files_of_people: Mapping[str, str | None]
    files: Mapping[str, int]


Earlier = Callable[[str], bytes | None]
_Render = Callable[[Earlier], Iterable[tuple[str, bytes | None]]]


def read_site_state(folder: Path) -> SiteState | None:
    """Return what the last build left in a folder, or None if there is nothing that a build can continue: no record, an
    invalid one, or a file that is missing or has another size."""
    record = _recorded(folder)
    try:
        if record["form"] != _FORM or any(
            (folder / path).stat().st_size != size for path, size in record["files"].items()
        ):
            return None
        pages = {name: PageEntry(*row) for name, row in record["pages"].items()}
        by_hand = {path: HandLinks(*row) for path, row in record["by_hand"].items()}
        wiki = WikiState(str(record["head"]), str(record["day"]), str(record["basis"]), pages, by_hand)
        return SiteState(wiki, str(record["known"]), record["noted"], record["people"], record["files"])
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None


def write_site(
    folder: Path,
    render: _Render,
    last: SiteState | None = None,
    state: Callable[[Mapping[str, int]], SiteState] | None = None,
    report: OnProgress | None = None,
    expected: int = 0,
) -> SiteBuild:
    """Write the files that differ from those in the folder, and remove what an earlier site left there. The folder must
    have passed `check_site_folder`.

    `render` makes the files, given a function that reads those of the last build; None stands for a file to be removed.
    With `last`, files that it does not make stay as they are. `state` makes the record for the next build. `report`
    gets the number of files made, of about `expected`. Raise StorageFailed if a file cannot be written."""
    try:
        return _write(folder, _counted(render, report, expected), last, state)
    except OSError as error:
        place = error.filename or folder
        raise StorageFailed(f"{place} cannot be written: {error.strerror}.", "The site is incomplete.") from None


def _counted(render: _Render, report: OnProgress | None, expected: int) -> _Render:
    """Return the same function; what it makes is counted while it is taken."""
    if report is None:
        return render

    def counted(earlier: Earlier) -> Iterator[tuple[str, bytes | None]]:
        for number, made in enumerate(render(earlier)):
            report(Progress("site: writing", number, max(expected, number), "files"))
            yield made

    return counted


def _write(
    folder: Path,
    render: _Render,
    last: SiteState | None,
    state: Callable[[Mapping[str, int]], SiteState] | None,
) -> SiteBuild:
    folder.mkdir(parents=True, exist_ok=True)
    before = _files(_recorded(folder))
    now = dict(last.files) if last else {}
    # Until the build is done, the folder is known as a site, and no build continues this one.
    _record(folder, {"files": before})
    written = 0

    def earlier(path: str) -> bytes | None:
        return (folder / path).read_bytes() if path in now else None

    for path, content in render(earlier):
        if content is None:
            now.pop(path, None)
        else:
            now[path] = len(content)
            written += _written(folder / path, content)
    stale = [path for path in sorted(before.keys() - now.keys()) if (folder / path).resolve().is_relative_to(folder)]
    for path in stale:
        (folder / path).unlink(missing_ok=True)
    now = dict(sorted(now.items()))
    _record(folder, {"files": now} if state is None else _as_record(state(now)))
    return SiteBuild(len(now), sum(now.values()), written, len(stale))


def _written(path: Path, content: bytes) -> bool:
    """Write a file unless it has this content; return whether it was written."""
    if path.is_file() and path.read_bytes() == content:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return True


def _as_record(state: SiteState) -> dict[str, Any]:
    return {
        "form": _FORM,
        **state.wiki._asdict(),
        "known": state.known,
        "noted": state.noted,
        "people": state.files_of_people,
        "files": state.files,
    }


def _recorded(folder: Path) -> dict[str, Any]:
    try:
        found = json.loads((folder / RECORD).read_text("utf-8"))
    except (FileNotFoundError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _files(record: Mapping[str, Any]) -> dict[str, int]:
    files = record.get("files")
    return {path: 0 for path in files if isinstance(path, str)} if isinstance(files, list | dict) else {}


def _record(folder: Path, record: Mapping[str, Any]) -> None:
    (folder / RECORD).write_text(json.dumps(record) + "\n", "utf-8")
