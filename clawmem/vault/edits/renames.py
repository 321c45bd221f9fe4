"""Folders of entities that a person renamed: the old path stays an alias, so that what names it finds the new one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from clawmem.errors import ClawmemError
from clawmem.model.facts.codec import parse_items
from clawmem.model.pages.summary import split_front_matter, yaml_scalar
from clawmem.model.records.entity import items_path, summary_path
from clawmem.vault.strict_yaml import parse_yaml
from clawmem.vault.vault import Vault

_INLINE = re.compile(r"^(aliases:[ \t]*\[)([^\n\]]*)(\][ \t]*)$", re.MULTILINE)
_LISTED = re.compile(r"^(aliases:[ \t]*\n)([ \t]*)(?=- )", re.MULTILINE)

Files = Mapping[str, bytes | None]


def find_renamed(before: Files, after: Files, moved: Mapping[tuple[str, str], int]) -> Iterator[tuple[str, str]]:
    """The entities, by old and new path, that are one for certain: both files went, with all facts, to a place that was
    not there before. `before` and `after` are the files of a person's edits, `moved` how many facts went where."""
    for (old, new), number in moved.items():
        gone, made = (items_path(old), summary_path(old)), (items_path(new), summary_path(new))
        left = all(before.get(path) is not None and after.get(path, b"") is None for path in gone)
        came = all(before.get(path) is None and after.get(path) is not None for path in made)
        went = [pair for pair in moved if old in pair or new in pair]
        if left and came and went == [(old, new)] and number == len(_ids(before, old)):
            yield old, new


def _ids(files: Files, name: str) -> list[str]:
    path = items_path(name)
    return [fact.id for fact in parse_items(files[path] or b"", path)]


def add_old_path_aliases(
    vault: Vault, before: Files, after: Files, moved: Mapping[tuple[str, str], int]
) -> dict[str, bytes]:
    """Write the old path among the aliases of each entity that was renamed by hand, and give the new pages by path. Who
    is killed afterwards leaves one more edit by hand behind."""
    pages = {}
    for old, new in find_renamed(before, after, moved):
        path = summary_path(new)
        page = with_alias((after[path] or b"").decode("utf-8-sig", errors="replace"), old, path)
        if page is not None and vault.read(path) == after[path]:
            vault.disk.replace(vault.path(path), page.encode(), vault.state)
            pages[path] = page.encode()
    return pages


def with_alias(page: str, alias: str, path: str) -> str | None:
    """The page with one more alias in its front matter, all else as it is; None where it has it, or nothing says where
    it would go."""
    front, _ = split_front_matter(page)
    if front is None:
        return None
    more = yaml_scalar(alias)
    known = _aliases(front, path)
    written = _INLINE.sub(lambda found: f"{found[1]}{', '.join(filter(None, (found[2], more)))}{found[3]}", front, 1)
    if written == front:
        written = _LISTED.sub(lambda found: f"{found[1]}{found[2]}- {more}\n{found[2]}", front, 1)
    if written == front and known == []:
        written = f"{front.rstrip()}\naliases: [{more}]\n"
    if known is None or alias in known or sorted(_aliases(written, path) or ()) != sorted([*known, alias]):
        return None
    return page.replace(front, written, 1)


def _aliases(front: str, path: str) -> list[str] | None:
    try:
        held = parse_yaml(front, path)
    except ClawmemError:
        return None
    found = (held.get("aliases") or []) if isinstance(held, dict) else None
    return [str(one) for one in found] if isinstance(found, list) else None
