"""What a site of the memory shows, as values, and the path of each page in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from clawmem.extensions.wiki.values.page import FOLDER, INDEX, EntityPage, PageEntry, TopicPage, file_name
from clawmem.model.facts.fact import Fact
from clawmem.model.records.event import Event

OWN = "own"


class SitePage(NamedTuple):
    """The page of an entity with the events that its facts come from, by id, and what people wrote there, as pairs of
    a vault path and Markdown."""

    page: EntityPage
    events: Mapping[str, Event]
    notes: tuple[tuple[str, str], ...] = ()


class SiteTopic(NamedTuple):
    """The page of a topic with what people wrote there, as Markdown."""

    page: TopicPage
    notes: str = ""


class OwnPage(NamedTuple):
    """A page that people wrote: its vault path, its title, and its Markdown."""

    path: str
    title: str
    text: str


class Site(NamedTuple):
    """A site, or what changes in one.

    `pages`, `topics` and `own` are the pages to be written; `pages` and `own` can be read once. `entries`, `totals`
    (claims by topic) and `others` (titles of own pages by vault path) say what the whole site has. `gone` are the paths
    in the site of pages that it no longer has. `notes` is what people wrote on the index."""

    pages: Iterable[SitePage]
    topics: tuple[SiteTopic, ...]
    own: Iterable[OwnPage]
    entries: tuple[PageEntry, ...]
    totals: Mapping[str, int]
    others: Mapping[str, str]
    gone: tuple[str, ...] = ()
    notes: str = ""


def site_path(page: str) -> str:
    """Return the path in a site of a generated wiki page, such as `areas/people/jane.html`."""
    return page.removeprefix(f"{FOLDER}/").removesuffix(".md") + ".html"


def own_path(page: str) -> str:
    """Return the path in a site of a page that people wrote, such as `own/wiki/sailing.html`."""
    return f"{OWN}/{'/'.join(map(file_name, page.removesuffix('.md').split('/')))}.html"


def site_paths(entries: Iterable[PageEntry], topics: Iterable[str], others: Iterable[str]) -> dict[str, str]:
    """Return the path in a site of every page that links can lead to, by vault path. `topics` and `others` are vault
    paths."""
    generated = (INDEX, *(entry.path for entry in entries), *topics)
    return {**{path: own_path(path) for path in others}, **{path: site_path(path) for path in generated}}


def facts_on(page: EntityPage) -> Iterator[Fact]:
    """Yield the facts that are shown with their evidence on a page: claims, what they replaced, conflicts, doubts."""
    for claim in page.claims:
        yield claim.fact
        yield from claim.replaced
    for conflict in page.conflicts:
        yield conflict.one.fact
        yield conflict.other.fact
    for doubtful in page.doubtful:
        yield doubtful.fact


def source_events(page: EntityPage) -> set[str]:
    """Return the ids of the events that the facts of a page come from."""
    return {fact.source_event for fact in facts_on(page) if fact.source_event is not None}
