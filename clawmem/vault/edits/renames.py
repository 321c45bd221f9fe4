"""Entity folders renamed by hand. The old path becomes an alias, so that references to it find the new one."""

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
    """Yield the old and new paths of entities that were certainly renamed.

    The facts and the summary were both removed, and all facts are in a place that is new. `before` and `after` are the
    edited files; `moved` counts the facts that moved between two places.
    """
    for (old, new), number in moved.items():
        old_paths, new_paths = (items_path(old), summary_path(old)), (items_path(new), summary_path(new))
        removed = all(before.get(path) is not None and after.get(path, b"") is None for path in old_paths)
        added = all(before.get(path) is None and after.get(path) is not None for path in new_paths)
        went = [pair for pair in moved if old in pair or new in pair]
        if removed and added and went == [(old, new)] and number == len(_ids(before, old)):
            yield old, new


def _ids(files: Files, name: str) -> list[str]:
    path = items_path(name)
    return [fact.id for fact in parse_items(files[path] or b"", path)]


def add_old_path_aliases(
    vault: Vault, before: Files, after: Files, moved: Mapping[tuple[str, str], int]
) -> dict[str, bytes]:
    """Add the old path to the aliases of each renamed entity and return the new pages by path.

    If this is killed, it leaves one more edit by hand.
    """
    pages = {}
    for old, new in find_renamed(before, after, moved):
        path = summary_path(new)
        page = with_alias((after[path] or b"").decode("utf-8-sig", errors="replace"), old, path)
        if page is not None and vault.read(path) == after[path]:
            vault.disk.replace(vault.path(path), page.encode(), vault.state)
            pages[path] = page.encode()
    return pages


def with_alias(page: str, alias: str, path: str) -> str | None:
    """Return the page with one more alias in its front matter and no other change.

    Return None if it has the alias already or its front matter cannot be edited safely.
    """
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
        value = parse_yaml(front, path)
    except ClawmemError:
        return None
    found = (value.get("aliases") or []) if isinstance(value, dict) else None
    return [str(other) for other in found] if isinstance(found, list) else None
