"""Follow entities that one side moved, so that the other side's files move along."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clawmem.errors import ClawmemError
from clawmem.model.facts.codec import parse_items
from clawmem.model.pages.summary import split_front_matter
from clawmem.model.records.entity import ITEMS, SUMMARY, folder_of, name_of_path

Files = Mapping[str, bytes | None]


def find_moves(base: Files, side: Files) -> dict[str, str]:
    """Return the new name of each entity that a side moved.

    An entity moved if its folder is gone and exactly one new folder has all its facts or lists it as a former place.
    """
    gone = [name for name in _names(base) if _is_there(base, name) and not _is_there(side, name)]
    fresh = [name for name in _names(side) if _is_there(side, name) and not _is_there(base, name)]
    found = {}
    for old in gone:
        targets = [new for new in fresh if _followed(base, side, old, new)]
        if len(targets) == 1:
            found[old] = targets[0]
    return found


def _names(files: Files) -> list[str]:
    names = {name_of_path(path) for path, data in files.items() if data is not None}
    return sorted(name for name in names if name)


def _is_there(files: Files, name: str) -> bool:
    folder = folder_of(name)
    return any(files.get(f"{folder}/{last}") is not None for last in (ITEMS, SUMMARY))


def _followed(base: Files, side: Files, old: str, new: str) -> bool:
    before = _ids(base, old)
    if before and before <= _ids(side, new):
        return True
    page = (side.get(f"{folder_of(new)}/{SUMMARY}") or b"").decode(errors="replace")
    return f'"{old}"' in (split_front_matter(page)[0] or "")


def _ids(files: Files, name: str) -> set[str]:
    path = f"{folder_of(name)}/{ITEMS}"
    try:
        return {fact.id for fact in parse_items(files.get(path) or b"[]", path)}
    except ClawmemError:
        return set()


def common_names(ours: Mapping[str, str], theirs: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """Return the renames to apply to the base, to ours and to theirs, so that each entity has one name.

    Where both sides moved an entity, the name that sorts last wins.
    """
    base: dict[str, str] = {}
    mine: dict[str, str] = {}
    yours: dict[str, str] = {}
    for old in sorted({*ours, *theirs}):
        target = max(name for name in (ours.get(old), theirs.get(old)) if name)
        base[old] = target
        for side, moved in ((mine, ours), (yours, theirs)):
            side[moved.get(old, old)] = target
    return {"base": base, "ours": mine, "theirs": yours}


def rename_folders(files: Files, names: Mapping[str, str]) -> dict[str, bytes | None]:
    """Return the files with some entity folders renamed; a file that already exists at the new path is kept."""
    folders = {folder_of(old) + "/": folder_of(new) + "/" for old, new in names.items() if old != new}
    found = dict(files)
    for path, target in _targets(files, folders):
        if found.get(target) is None:
            found[target] = found[path]
            found[path] = None
    return found


def _targets(files: Files, folders: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for path, data in files.items():
        for old, new in folders.items():
            rest = path.removeprefix(old)
            if data is not None and rest != path and "/" not in rest:
                yield path, new + rest
