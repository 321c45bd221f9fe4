"""Links on the pages of the wiki: relative Markdown links, and `[[links]]` as people write them in Obsidian."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from clawmem.model.wiki.names import INDEX

_CODE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|`[^`\n]*`", re.DOTALL)
_WIKI = re.compile(r"(?<!\\)\[\[([^\[\]|#^\n]*)(?:[#^][^\[\]|\n]*)?(?:\|[^\[\]\n]*)?\]\]")
_MARKDOWN = re.compile(r"(?<![\\!])\[(?:[^\[\]\\\n]|\\.)*\]\(<?([^()<>\s]+)>?(?:\s+\"[^\"\n]*\")?\)")
_ESCAPED = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*:|//|#", re.IGNORECASE)


class DeadLink(NamedTuple):
    """A link whose page does not exist: the page that it is on, and the target as written."""

    page: str
    target: str


class LinkReport(NamedTuple):
    """Dead links, and pages that no other page links to."""

    dead: tuple[DeadLink, ...]
    orphans: tuple[str, ...]


def check_links(pages: Mapping[str, str]) -> LinkReport:
    """Return the dead links and the orphans among the pages of a folder, by path with their texts.

    A `[[link]]` names a page by its path from the folder or from the vault, or by its file name, without `.md`, in any
    case, as Obsidian resolves it (https://help.obsidian.md/links).
    """
    names: dict[str, str] = {}
    for path in sorted(pages):
        names.setdefault(posixpath.basename(path)[:-3].casefold(), path)
        names[path[:-3].casefold()] = path
        names[path[:-3].partition("/")[2].casefold()] = path
    dead: list[DeadLink] = []
    linked: set[str] = set()
    for path, text in sorted(pages.items()):
        for target, wiki in links_in(text):
            found = names.get(target.casefold().removesuffix(".md")) if wiki else _resolved(path, target, pages)
            if found is None:
                dead.append(DeadLink(path, target))
            elif found != path:
                linked.add(found)
    return LinkReport(tuple(dict.fromkeys(dead)), tuple(sorted(set(pages) - linked - {INDEX})))


def links_in(text: str) -> Iterable[tuple[str, bool]]:
    """Yield the targets of the links to pages in a text, and whether each is a `[[link]]`. Code is left out."""
    shown = _CODE.sub("", text)
    for found in _WIKI.finditer(shown):
        if found[1].strip():
            yield found[1].strip(), True
    for found in _MARKDOWN.finditer(shown):
        if not _ADDRESS.match(found[1]):
            yield decoded(found[1].partition("#")[0]), False


def decoded(target: str) -> str:
    """Return a target without percent-encoding."""
    return _ESCAPED.sub(lambda found: bytes.fromhex(found[0].replace("%", "")).decode(errors="replace"), target)


def _resolved(page: str, target: str, pages: Mapping[str, str]) -> str | None:
    path = posixpath.normpath(posixpath.join(posixpath.dirname(page), target))
    return path if path in pages else path + ".md" if path + ".md" in pages else None
