"""Mend dead links: find the pages that a link can mean, by title, alias, present and former path."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from clawmem.extensions.wiki.values.links import PageNames, WrittenLink, links_in, resolved, with_targets
from clawmem.extensions.wiki.values.names import FOLDER, entity_page, relative_link, topic_page
from clawmem.model.language.text import normal
from clawmem.model.records.entity import ROOTS, Entity

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


def mended(
    text: str, dead: Iterable[DeadTarget], names: PageNames, unlink: bool = False
) -> tuple[str, list[MendedLink]]:
    """Return a text in which each dead link with one candidate leads to it, and the links that changed.

    With `unlink`, of the other dead links only the words stay."""
    chosen = {target: target.candidates[0] if len(target.candidates) == 1 else None for target in dead}
    chosen = {target: to for target, to in chosen.items() if to is not None or unlink}
    written = {
        target.link: None if to is None else target_on(target.page, to, target.link.wiki, names)
        for target, to in chosen.items()
    }
    items = [MendedLink(target.page, target.link.target, to) for target, to in chosen.items() if to is not None]
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
