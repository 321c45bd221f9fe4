"""Edits made by hand: found before a change, checked, and committed on their own as the person's work."""

from __future__ import annotations

import os
import subprocess
from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from clawmem.errors import ClawmemError
from clawmem.model.catalog import catalog_from_mapping
from clawmem.model.change import Author, Change, subject_line, trailers
from clawmem.model.codec import parse_items, refuse_conflict_markers
from clawmem.model.entity import ITEMS, SUMMARY, name_of_path
from clawmem.model.event import parse_events
from clawmem.model.layout import CATALOG, SETTINGS, is_owned
from clawmem.model.settings import settings_from_mapping
from clawmem.model.summary import split_front_matter
from clawmem.vault.vault import Vault, parse_yaml

UNNAMED = Author("by hand", "hand@clawmem")


class HandEdits(NamedTuple):
    """Owned files that differ from HEAD: those fit to be committed, and why each other one is not."""

    good: tuple[str, ...]
    bad: tuple[tuple[str, ClawmemError], ...]


def start_scan(vault: Vault) -> subprocess.Popen[bytes]:
    """Start git looking for changed files, so that other work can go on meanwhile."""
    return vault.git.start("status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=normal")


def finish_scan(vault: Vault, scan: subprocess.Popen[bytes]) -> tuple[str, ...]:
    """The owned files that differ from HEAD, new and deleted ones included."""
    printed = vault.git.finish(scan, "status").decode(errors="surrogateescape")
    paths: set[str] = set()
    for entry in printed.split("\0"):
        path = entry[3:]
        if path.endswith("/"):
            paths.update(_below(vault, path))
        elif path:
            paths.add(path)
    return tuple(sorted(path for path in paths if is_owned(path)))


def check_edits(vault: Vault, paths: Iterable[str]) -> HandEdits:
    """Sort changed files into those that parse and those that do not."""
    good, bad = [], []
    for path in paths:
        try:
            check_file(path, vault.read(path))
        except ClawmemError as problem:
            bad.append((path, problem))
        else:
            good.append(path)
    return HandEdits(tuple(good), tuple(bad))


def check_file(path: str, data: bytes | None) -> None:
    """Raise Unreadable or NeedsPerson, naming the line, where a vault file cannot be what its path says."""
    if data is None:
        return
    name = path.rsplit("/", 1)[-1]
    if name == ITEMS:
        parse_items(data, path)
    elif path.startswith("ledger/") and path.endswith(".jsonl"):
        parse_events(data, path)
    else:
        _check_text(path, name, data)


def _check_text(path: str, name: str, data: bytes) -> None:
    text = data.decode(errors="replace")
    refuse_conflict_markers(text, path)
    if path == SETTINGS:
        settings_from_mapping(parse_yaml(text, path) or {})
    elif path == CATALOG:
        catalog_from_mapping(parse_yaml(text, path) or {})
    elif name == SUMMARY:
        front, _ = split_front_matter(text)
        if front is not None:
            parse_yaml(front, path)


def plan_adoption(vault: Vault, good: Iterable[str]) -> tuple[Change, ...]:
    """One change for each place a person edited: an entity's folder, or a single file."""
    places: dict[str, list[str]] = defaultdict(list)
    for path in good:
        places[name_of_path(path) or path].append(path)
    author = _own_identity(vault)
    return tuple(
        Change(
            subject=subject_line("edit", place, "by hand"),
            writes={path: vault.read(path) for path in paths},
            trailers=trailers("edit", entities=[place] if name_of_path(paths[0]) else []),
            author=author,
        )
        for place, paths in sorted(places.items())
    )


def _own_identity(vault: Vault) -> Author:
    printed = vault.git.try_run("-c", "user.useConfigOnly=true", "var", "GIT_AUTHOR_IDENT")
    if printed is None:
        return UNNAMED
    name, _, rest = printed.decode(errors="replace").partition(" <")
    return Author(name or UNNAMED.name, rest.partition(">")[0] or UNNAMED.email)


def _below(vault: Vault, folder: str) -> Iterable[str]:
    root = str(vault.root)
    for where, folders, files in os.walk(vault.root / folder):
        folders[:] = [name for name in folders if name != ".git"]
        for name in files:
            yield os.path.relpath(os.path.join(where, name), root)  # noqa: PTH118 - text paths, no objects
