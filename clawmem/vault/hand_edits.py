"""Edits made by hand: checked, and committed on their own as the person's work."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from clawmem.errors import ClawmemError, Refused, SecretFound
from clawmem.model.catalog import catalog_from_mapping
from clawmem.model.change import Author, Change, subject_line, trailers
from clawmem.model.codec import parse_items, refuse_conflict_markers
from clawmem.model.entity import ITEMS, SUMMARY, name_of_path
from clawmem.model.event import parse_events
from clawmem.model.layout import CATALOG, SETTINGS
from clawmem.model.secrets import find_secret
from clawmem.model.settings import settings_from_mapping
from clawmem.model.summary import split_front_matter
from clawmem.vault.scan import HandEdits
from clawmem.vault.vault import Vault, parse_yaml

UNNAMED = Author("by hand", "hand@clawmem")


def check_edits(vault: Vault, paths: Iterable[str]) -> HandEdits:
    """Sort changed files into those that parse and those that do not."""
    good: dict[str, bytes | None] = {}
    bad: list[tuple[str, ClawmemError]] = []
    for path in paths:
        try:
            good[path] = _sound(vault, path)
        except ClawmemError as problem:
            bad.append((path, problem))
    return HandEdits(good, tuple(bad))


def _sound(vault: Vault, path: str) -> bytes | None:
    obstacle = vault.obstacle(path)
    if obstacle is not None:
        raise Refused(f"{path} is not taken in: {obstacle}.", "Put a real file or folder in its place.")
    data = vault.read(path)
    check_file(path, data)
    _refuse_new_secret(vault, path, data)
    return data


def _refuse_new_secret(vault: Vault, path: str, data: bytes | None) -> None:
    """Raise SecretFound where an edit brings a credential that history does not hold yet."""
    text = (data or b"").decode(errors="replace")
    match = find_secret(text)
    if match is None:
        return
    head = vault.head().commit
    standing = (vault.contents_at(head, [path])[path] if head else None) or b""
    if text[match.start : match.end] not in standing.decode(errors="replace"):
        line = text.count("\n", 0, match.start) + 1
        raise SecretFound(match.rule, f"{path}:{line}")


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


def plan_adoption(vault: Vault, edited: Mapping[str, bytes | None]) -> tuple[Change, ...]:
    """One change for each place a person edited: an entity's folder, or a single file."""
    places: dict[str, list[str]] = defaultdict(list)
    for path in edited:
        places[name_of_path(path) or path].append(path)
    author = _own_identity(vault)
    return tuple(
        Change(
            subject=subject_line("edit", place, "by hand"),
            writes={path: edited[path] for path in paths},
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


def dropped_facts(before: Mapping[str, bytes | None], after: Mapping[str, bytes | None]) -> list[str]:
    """A sentence for each `items.json` from which a person's edit took facts: an editor may have held an old copy."""
    said = []
    for path, data in after.items():
        gone = _ids(before.get(path), path) - _ids(data, path)
        if gone:
            names = ", ".join(sorted(gone)[:3]) + (f" and {len(gone) - 3} more" if len(gone) > 3 else "")
            said.append(f"your edit of {path} takes out {names}; `clawmem undo` brings them back")
    return said


def _ids(data: bytes | None, path: str) -> set[str]:
    if data is None or not path.endswith(f"/{ITEMS}"):
        return set()
    try:
        return {fact.id for fact in parse_items(data, path)}
    except ClawmemError:
        return set()  # what HEAD holds did not parse either: nothing can be said of it
