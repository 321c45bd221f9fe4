"""Links on the pages of the wiki: relative Markdown links, and `[[links]]` as people write them in Obsidian."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from clawmem.extensions.wiki.values.page import FOLDER, INDEX, entity_page, relative_link, topic_page
from clawmem.model.language.text import normal
from clawmem.model.pages.summary import generated_part, with_generated
from clawmem.model.records.entity import ROOTS, Entity

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
# A link that a build wrote.
_WRITTEN = re.compile(r"(?<!\\)\[((?:[^\[\]\\|\n]|\\.)*)\]\(([^()\s]+)\.md\)")
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


def with_targets(text: str, targets: Mapping[WrittenLink, str]) -> str:
    """Return a text in which some links have another target.

    A `[[link]]` keeps the words that it showed, and every link its heading."""

    def replaced(found: re.Match[str]) -> str:
        link = _link(found)
        if link is None or link not in targets:
            return found[0]
        target = targets[link]
        if not link.wiki:
            place = (found["spaced"] or found["target"]).partition("#")[1:]
            written = f"<{target}{''.join(place)}>" if found["spaced"] else f"{target}{''.join(place)}"
            return f"[{found['words']}]({written}{found['title']})"
        shown = found["shown"] or ("" if found["embed"] else f"|{link.target}")
        return f"{found['embed']}[[{target}{found['place']}{shown}]]"

    return _TOKENS.sub(replaced, text)


def with_wiki_links(text: str, path: str) -> str:
    """Return what a build wrote on a page with `[[links]]` in place of relative ones: Obsidian's own form."""

    def wiki(found: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(path), found[2]))
        words = re.sub(r"\\(.)", r"\1", found[1])
        return found[0] if set("[]|") & set(words) else f"[[{target}|{words}]]"

    return _WRITTEN.sub(wiki, text)


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


LinkTargets = Mapping[str, frozenset[str]]
"""Pages by each word that can name them, in normal form."""


class MendedLink(NamedTuple):
    """A link that got another target: the page that it is on, the former target, and the page to which it leads now."""

    page: str
    target: str
    to: str


class DeadTarget(NamedTuple):
    """A link that leads nowhere: the page that it is on, the link, and the pages that it can mean, by path."""

    page: str
    link: WrittenLink
    candidates: tuple[str, ...]


def link_targets(entities: Iterable[Entity], topics: Iterable[str], titles: Mapping[str, str]) -> LinkTargets:
    """Return what links can mean. `titles` are those of the pages that people wrote, by path."""
    found: dict[str, set[str]] = {}

    def add(page: str, *words: str) -> None:
        for word in words:
            found.setdefault(normal(word), set()).add(page)

    for entity in entities:
        page = entity_page(entity.name)
        add(page, entity.title, *entity.aliases, *_endings(page), *_endings(entity.name))
        for former in entity.aliases:
            if former.partition("/")[0] in ROOTS:
                add(page, *_endings(entity_page(former)), *_endings(former))
    for topic in topics:
        add(topic_page(topic), topic, *_endings(topic_page(topic)))
    for path, title in titles.items():
        add(path, title, *_endings(path))
    return {word: frozenset(pages) for word, pages in found.items() if word}


def _endings(path: str) -> list[str]:
    """Return the ends of a path, as a `[[link]]` may name a page by them, without `.md`."""
    parts = path.removesuffix(".md").split("/")
    return ["/".join(parts[start:]) for start in range(len(parts))]


def dead_targets(page: str, text: str, names: PageNames, targets: LinkTargets) -> list[DeadTarget]:
    """Return the links of a text on a page that lead nowhere, each once."""
    dead = [link for link in dict.fromkeys(links_in(text)) if resolved(page, link, names) is None]
    return [DeadTarget(page, link, _candidates(page, link, targets)) for link in dead]


def _candidates(page: str, link: WrittenLink, targets: LinkTargets) -> tuple[str, ...]:
    if link.wiki:
        return tuple(sorted(targets.get(normal(link.target.removesuffix(".md")), ())))
    path = posixpath.normpath(posixpath.join(posixpath.dirname(page), link.target)).removesuffix(".md")
    return tuple(sorted(targets.get(normal(path)) or targets.get(normal(posixpath.basename(path))) or ()))


def mended(text: str, dead: Iterable[DeadTarget], names: PageNames) -> tuple[str, list[MendedLink]]:
    """Return a text in which each dead link with one candidate leads to it, and the links that changed."""
    chosen = {target: target.candidates[0] for target in dead if len(target.candidates) == 1}
    written = {target.link: target_on(target.page, to, target.link.wiki, names) for target, to in chosen.items()}
    items = [MendedLink(target.page, target.link.target, to) for target, to in chosen.items()]
    return with_targets(text, written), items


def target_on(page: str, to: str, wiki: bool, names: PageNames) -> str:
    """Return the target of a link on one page to another, as people write it: a `[[link]]` by the file name if that is
    unique, else by the path from the wiki's folder."""
    if not wiki:
        return relative_link(page, to).replace(" ", "%20")
    bare = to.removesuffix(".md")
    name = bare.rpartition("/")[2]
    unique = len(names.get(name.casefold(), (to,))) == 1
    return name if unique else bare.removeprefix(f"{FOLDER}/")
