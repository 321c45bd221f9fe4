"""Facts that a person copied by hand: an id stands once, so a copy is left alone and named; a rename is finished."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from clawmem.errors import ClawmemError, Refused
from clawmem.model.facts.codec import parse_items
from clawmem.model.language.text import counted
from clawmem.model.records.entity import ITEMS, SUMMARY, items_path, name_of_path, summary_path
from clawmem.vault.edits.moved_facts import place_of
from clawmem.vault.vault import Vault
from clawmem.vault.work_tree import write_file

Files = Mapping[str, bytes | None]
# So many earlier versions of a file are compared with a renamed one.
_VERSIONS = 200


def find_in_head(vault: Vault, ids: Iterable[str]) -> dict[str, list[str]]:
    """The files of HEAD that hold each of some facts."""
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
    """The edited files that must be left alone, as facts in them stand in other places too; and what hangs together
    with those: the rest of a folder that was copied, and what was taken away from where it was copied from."""
    head = vault.head().commit
    items = [path for path in good if path.endswith(f"/{ITEMS}") and name_of_path(path)]
    stood = vault.contents_at(head, items) if head and items else {}
    now = {path: _ids(path, good[path]) for path in items}
    before = {path: _ids(path, stood.get(path)) for path in items}
    arrived = {path: now[path] - before[path] for path in items}
    elsewhere = find_in_head(vault, {key for keys in arrived.values() for key in keys}) if head else {}
    refused: dict[str, Refused] = {}
    sources: set[str] = set()
    for path in sorted(items):
        for key in sorted(arrived[path]):
            others = [other for other in elsewhere.get(key, ()) if other != path and key in now.get(other, {key})]
            others += [other for other in items if other < path and key in arrived[other] and other not in refused]
            if others:
                refused.setdefault(path, _refused(path, key, others[0], len(arrived[path])))
                sources.add(place_of(others[0]))
    return [*refused.items(), *_along(vault, good, refused, sources)]


def _refused(path: str, key: str, other: str, number: int) -> Refused:
    which = key if number == 1 else f"{key} and {counted(number - 1, 'other fact')}"
    return Refused(
        f"{path} is not taken in: {which} came from {other}, which has the same ids still, and an id stands once."
        " Remove the copy, or give its facts new ids.",
        "`clawmem entity move` gives an entity another place.",
    )


def _along(vault: Vault, good: Files, refused: Mapping[str, Refused], sources: set[str]) -> list[tuple[str, Refused]]:
    """The other files of a folder that is a copy, and the missing ones of the folder it was made of."""
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
            found.append((path, Refused(f"{path} waits for {stops}.", "Mend that file first.")))
    return found


def finish_renames(vault: Vault, changed: Sequence[str]) -> tuple[str, ...]:
    """Finish renames of folders that git came into: a pull puts back the old file of facts, with what others wrote,
    though its folder was renamed. That goes into the renamed one, as in any merge, and the old file goes. Returns the
    edited files. Who is killed on the way leaves the same rename to be finished, or a finished one."""
    edited = list(changed)
    for old, new in _renames(vault, changed):
        stays, goes = items_path(new), items_path(old)
        merged = _merged(vault, stays, goes)
        if merged is not None:
            write_file(vault, stays, merged)
            write_file(vault, goes, None)
            edited.append(goes)
    return tuple(edited)


def _renames(vault: Vault, changed: Sequence[str]) -> list[tuple[str, str]]:
    """The entities, by old and new path, whose folder was renamed but for a file of facts that is as git has it."""
    head = vault.head().commit
    fresh = [path for path in changed if path.endswith(f"/{ITEMS}") and name_of_path(path)]
    gone = [path for path in changed if path.endswith(f"/{SUMMARY}") and name_of_path(path)]
    if not head or not fresh or not gone:
        return []
    found = []
    for page in gone:
        old = place_of(page)
        source = items_path(old)
        stood = vault.contents_at(head, [page, source])
        if source in changed or None in stood.values() or vault.read(page) is not None:
            continue
        ids = _ids(source, stood[source])
        targets = [place_of(path) for path in fresh if _is_copy(vault, head, path, ids)]
        found += [(old, new) for new in targets if len(targets) == 1 and summary_path(new) in changed]
    return found


def _is_copy(vault: Vault, head: str, path: str, ids: set[str]) -> bool:
    held = _ids(path, vault.read(path))
    return bool(held) and held <= ids and vault.contents_at(head, [path])[path] is None


def _merged(vault: Vault, stays: str, goes: str) -> bytes | None:
    """The facts of both files. The renamed one is mostly as the old one was once: then nobody took anything out of it,
    and what git brought counts. Else all of both stays."""
    from clawmem.model.merging.files.merge import merge_file  # few renames are met by a pull

    here, there = vault.read(stays), vault.read(goes)
    commits = vault.git.run("log", f"-n{_VERSIONS}", "--format=%H", "HEAD", "--", f":(literal){goes}").decode().split()
    if here in vault.git.read_blobs(f"{commit}:{goes}" for commit in commits).values():
        return there
    try:
        return merge_file(stays, None, here, there).content
    except ClawmemError:
        return None


def _ids(path: str, data: bytes | None) -> set[str]:
    try:
        return {fact.id for fact in parse_items(data, path)} if data is not None else set()
    except ClawmemError:
        return set()
