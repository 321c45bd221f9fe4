"""Facts copied by hand. An id must be unique, so a copy is left unchanged and reported; a rename is completed.

Facts that were moved by hand from file to file, and the places that are connected by such moves.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from clawmem.errors import ClawmemError, Refused
from clawmem.model.facts.codec import parse_items
from clawmem.model.kinds import ITEMS_FILE, SUMMARY_PAGE, file_kind
from clawmem.model.language.text import counted
from clawmem.model.named_tuple import NamedTuple
from clawmem.model.records.entity import ITEMS, items_path, name_of_path, summary_path
from clawmem.vault.vault import Vault
from clawmem.vault.work_tree import write_file

Files = Mapping[str, bytes | None]
# A renamed file is compared with this many earlier versions.
_VERSIONS = 200


def find_in_head(vault: Vault, ids: Iterable[str]) -> dict[str, list[str]]:
    """Return the files of HEAD that contain each of some facts."""
    wanted = frozenset(ids)
    if not wanted:
        return {}
    quoted = "".join(f'"{key}"\n' for key in sorted(wanted)).encode()
    named = vault.git.try_run("grep", "-lzF", "-f", "-", "HEAD", "--", f":(glob)**/{ITEMS}", stdin=quoted) or b""
    paths = [name.removeprefix("HEAD:") for name in named.decode(errors="surrogateescape").split("\0") if name]
    found: dict[str, list[str]] = {}
    for path, data in vault.contents_at("HEAD", paths).items():
        for key in _ids(path, data) & wanted:
            found.setdefault(key, []).append(path)
    return found


def copies(vault: Vault, good: Files) -> list[tuple[str, ClawmemError]]:
    """Return the edited files that must be left unchanged, because their facts are in other files too.

    This includes files that depend on them: the rest of a copied folder, and deletions in the folder it was copied
    from.
    """
    items = [path for path in good if file_kind(path) is ITEMS_FILE]
    committed = vault.committed(items)
    now = {path: _ids(path, good[path]) for path in items}
    before = {path: _ids(path, committed[path]) for path in items}
    arrived = {path: now[path] - before[path] for path in items}
    elsewhere = find_in_head(vault, {key for keys in arrived.values() for key in keys})
    refused: dict[str, Refused] = {}
    sources: set[str] = set()
    for path in sorted(items):
        for key in sorted(arrived[path]):
            others = [other for other in elsewhere.get(key, ()) if other != path and key in now.get(other, {key})]
            others += [other for other in items if other < path and key in arrived[other] and other not in refused]
            if others:
                refused.setdefault(path, _refused(path, key, others[0], len(arrived[path])))
                sources.add(place_of(others[0]))
    return [*refused.items(), *_dependent_files(vault, good, refused, sources)]


def _refused(path: str, key: str, other: str, number: int) -> Refused:
    which = key if number == 1 else f"{key} and {counted(number - 1, 'other fact')}"
    return Refused(
        f"{path} is not committed: {which} came from {other}, which still has the same ids, and an id must be unique."
        " Remove the copy, or give its facts new ids.",
        "`clawmem entity move` gives an entity another place.",
    )


def _dependent_files(
    vault: Vault, good: Files, refused: Mapping[str, Refused], sources: set[str]
) -> list[tuple[str, Refused]]:
    """Return the other files of a copied folder, and the deleted files of the folder it was copied from."""
    head = vault.head().commit
    copied = {place_of(path): path for path in refused}
    found = []
    for path, data in good.items():
        place = place_of(path)
        if path in refused:
            continue
        is_new = place in copied and head and vault.contents_at(head, [items_path(place)])[items_path(place)] is None
        if is_new or (place in sources and data is None and copied):
            stops = copied.get(place) or next(iter(refused))
            found.append((path, Refused(f"{path} waits for {stops}.", "Repair that file first.")))
    return found


def finish_renames(vault: Vault, changed: Sequence[str]) -> tuple[str, ...]:
    """Complete folder renames that git has interfered with, and return the edited files.

    If others changed the facts of a renamed folder, a pull puts the old file back. Its contents are merged into the
    renamed file, and the old file is deleted. If this is killed, the next command completes it.
    """
    edited = list(changed)
    for old, new in _renames(vault, changed):
        kept, removed = items_path(new), items_path(old)
        merged = _merged(vault, kept, removed)
        if merged is not None:
            write_file(vault, kept, merged)
            write_file(vault, removed, None)
            edited.append(removed)
    return tuple(edited)


def _renames(vault: Vault, changed: Sequence[str]) -> list[tuple[str, str]]:
    """Return the old and new paths of entities whose folder was renamed, except for a file of facts that git put
    back."""
    head = vault.head().commit
    fresh = [path for path in changed if file_kind(path) is ITEMS_FILE]
    gone = [path for path in changed if file_kind(path) is SUMMARY_PAGE]
    if not head or not fresh or not gone:
        return []
    found = []
    for page in gone:
        old = place_of(page)
        source = items_path(old)
        committed = vault.contents_at(head, [page, source])
        if source in changed or None in committed.values() or vault.read(page) is not None:
            continue
        ids = _ids(source, committed[source])
        targets = [place_of(path) for path in fresh if _is_copy(vault, head, path, ids)]
        found += [(old, new) for new in targets if len(targets) == 1 and summary_path(new) in changed]
    return found


def _is_copy(vault: Vault, head: str, path: str, ids: set[str]) -> bool:
    ids_now = _ids(path, vault.read(path))
    return bool(ids_now) and ids_now <= ids and vault.contents_at(head, [path])[path] is None


def _merged(vault: Vault, kept: str, removed: str) -> bytes | None:
    """Return the facts of both files.

    If the renamed file equals an old version of the other, nothing was removed from it, so the contents from git are
    used. Otherwise the facts of both are kept.
    """
    from clawmem.model.merging.files import merge_file  # rarely needed

    here, there = vault.read(kept), vault.read(removed)
    commits = (
        vault.git.run("log", f"-n{_VERSIONS}", "--format=%H", "HEAD", "--", f":(literal){removed}").decode().split()
    )
    if here in vault.git.read_blobs(f"{commit}:{removed}" for commit in commits).values():
        return there
    try:
        return merge_file(kept, None, here, there).content
    except ClawmemError:
        return None


def _ids(path: str, data: bytes | None) -> set[str]:
    try:
        return {fact.id for fact in parse_items(data, path)} if data is not None else set()
    except ClawmemError:
        return set()


Places = Mapping[str, Mapping[str, Any]]
"""The facts of each place, by id."""


class MovedFact(NamedTuple):
    """A fact that was removed from one place and added to another."""

    id: str
    old: str
    new: str


def place_of(path: str) -> str:
    """Return the place that a file belongs to: its entity, or the file itself."""
    return name_of_path(path) or path


def facts_moved(before: Places, after: Places) -> tuple[MovedFact, ...]:
    """Return the facts that moved from one place to another."""
    arrived: dict[str, list[str]] = {}
    for place, facts in after.items():
        for key in facts.keys() - before.get(place, {}).keys():
            arrived.setdefault(key, []).append(place)
    return tuple(
        MovedFact(key, place, new)
        for place, facts in before.items()
        for key in facts
        if key not in after.get(place, {})
        for new in arrived.get(key, ())
    )


def gathered(places: Iterable[str], went: Iterable[MovedFact]) -> tuple[tuple[str, ...], ...]:
    """Group the places so that places between which facts moved are in one group."""
    group = {place: {place} for place in places}
    for fact in went:
        if group[fact.old] is not group[fact.new]:
            group[fact.old] |= group[fact.new]
            group.update(dict.fromkeys(group[fact.old], group[fact.old]))
    return tuple(sorted({tuple(sorted(members)) for members in group.values()}))
