"""Links on the pages of the wiki: relative Markdown links, and `[[links]]` as people write them in Obsidian."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from clawmem.extensions.wiki.values.names import INDEX
from clawmem.model.pages.summary import generated_part, with_generated

# Code and comments, in which nothing is a link, then `[[page#heading|text]]` and `[text](target#heading "title")`. An
# embedded page starts with `!`; an image of Markdown is no link to a page.
_TOKENS = re.compile(
    r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|`[^`\n]*`|<!--.*?(?:-->|\Z)|%%.*?(?:%%|\Z)"
    r"|(?<!\\)(?P<embed>!?)\[\[(?P<page>[^\[\]|#^\n\\]*)(?P<place>(?:[#^][^\[\]|\n\\]*)?)"
    r"(?P<shown>(?:\\?\|[^\[\]\n]*)?)\]\]"
    r"|(?<![\\!])\[(?P<words>(?:[^\[\]\\\n]|\\.)*)\]\((?:<(?P<spaced>[^<>\n]+)>|(?P<target>[^()<>\s]+))"
    r"(?P<title>(?:\s+\"[^\"\n]*\")?)\)",
    re.DOTALL,
)
_ESCAPED = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]*:|//|#", re.IGNORECASE)


class WrittenLink(NamedTuple):
    """The target of a link to a page, as written but without a heading, and whether it is a `[[link]]`."""

    target: str
    wiki: bool


class DeadLink(NamedTuple):
    """A link whose page does not exist: the page that it is on, and the target as written."""

    page: str
    target: str


class LinkReport(NamedTuple):
    """Dead links, and pages that no other page links to."""

    dead: tuple[DeadLink, ...]
    orphans: tuple[str, ...]


PageNames = Mapping[str, Sequence[str]]
"""Paths by the last part of their name, in one case and without `.md`."""


def check_links(pages: Mapping[str, str], others: Collection[str] = ()) -> LinkReport:
    """Return the dead links and the orphans among the pages of a folder, by path with their texts.

    `others` are files that links may lead to beside the pages, by path: pictures, and other pages of the vault.
    """
    names, more = page_names(pages), page_names(others)
    dead: list[DeadLink] = []
    linked: set[str] = set()
    for path, text in sorted(pages.items()):
        for link in links_in(text):
            found = resolved(path, link, names) or resolved(path, link, more)
            if found is None:
                dead.append(DeadLink(path, link.target))
            elif found != path:
                linked.add(found)
    return LinkReport(tuple(dict.fromkeys(dead)), tuple(sorted(set(pages) - linked - {INDEX})))


def page_names(paths: Iterable[str]) -> PageNames:
    """Return the paths by the last part of their names, each list in alphabetical order."""
    names: dict[str, list[str]] = {}
    for path in sorted(paths):
        names.setdefault(_bare(posixpath.basename(path)), []).append(path)
    return names


def resolved(page: str, link: WrittenLink, names: PageNames) -> str | None:
    """Return the page to which a link on a page leads, or None.

    A `[[link]]` names a page by its file name, or by the end of its path, without `.md` and in any case, as Obsidian
    resolves it (https://help.obsidian.md/links).
    """
    if not link.wiki:
        path = posixpath.normpath(posixpath.join(posixpath.dirname(page), link.target))
        found = names.get(_bare(posixpath.basename(path)), ())
        return next((text for text in found if text in (path, f"{path}.md")), None)
    wanted = _bare(link.target).strip("/")
    found = names.get(posixpath.basename(wanted), ())
    return next((text for text in found if f"/{_bare(text)}".endswith(f"/{wanted}")), None)


def _bare(path: str) -> str:
    return path.casefold().removesuffix(".md")


def links_in(text: str) -> Iterator[WrittenLink]:
    """Yield the links to pages in a text. Code and comments are left out."""
    for found in _TOKENS.finditer(text):
        link = _link(found)
        if link is not None:
            yield link


def outside_markers(text: str) -> str:
    """Return what people wrote on a page: all but the part between the markers."""
    return text if generated_part(text) is None else with_generated(text, "")


def with_targets(text: str, targets: Mapping[WrittenLink, str | None]) -> str:
    """Return a text in which some links have another target, or are only their words where it is None.

    A `[[link]]` keeps the words that it showed, and every link its heading."""

    def replaced(found: re.Match[str]) -> str:
        link = _link(found)
        if link is None or link not in targets:
            return found[0]
        target = targets[link]
        if not link.wiki:
            place = (found["spaced"] or found["target"]).partition("#")[1:]
            written = f"<{target}{''.join(place)}>" if found["spaced"] else f"{target}{''.join(place)}"
            return found["words"] if target is None else f"[{found['words']}]({written}{found['title']})"
        if target is None:
            return found["shown"].partition("|")[2].strip() or link.target
        shown = found["shown"] or ("" if found["embed"] else f"|{link.target}")
        return f"{found['embed']}[[{target}{found['place']}{shown}]]"

    return _TOKENS.sub(replaced, text)


def _link(found: re.Match[str]) -> WrittenLink | None:
    if found["page"] is not None:
        target = found["page"].strip()
        return WrittenLink(target, True) if target else None
    target = found["spaced"] or found["target"]
    if target is None or _ADDRESS.match(target):
        return None
    return WrittenLink(decoded(target.partition("#")[0]), False)


def decoded(target: str) -> str:
    """Return a target without percent-encoding."""
    return _ESCAPED.sub(lambda found: bytes.fromhex(found[0].replace("%", "")).decode(errors="replace"), target)
