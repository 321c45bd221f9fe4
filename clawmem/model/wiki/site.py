"""What a site of the memory shows, as values, and the path of each page in it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from clawmem.model.facts.fact import Fact
from clawmem.model.records.event import Event
from clawmem.model.wiki.names import FOLDER
from clawmem.model.wiki.page import EntityPage, PageEntry, TopicPage


class Site(NamedTuple):
    """The pages of a site. `events` are the sources of its facts, by id. `written` is what people wrote on the wiki's
    pages, as Markdown, by vault path."""

    pages: tuple[EntityPage, ...]
    topics: tuple[TopicPage, ...]
    entries: tuple[PageEntry, ...]
    events: Mapping[str, Event]
    written: Mapping[str, str]
    notices: tuple[str, ...] = ()


def site_path(page: str) -> str:
    """Return the path in a site of a wiki page, such as `areas/people/jane.html`."""
    return page.removeprefix(f"{FOLDER}/").removesuffix(".md") + ".html"


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


def source_events(pages: Iterable[EntityPage]) -> set[str]:
    """Return the ids of the events that the facts of some pages come from."""
    return {fact.source_event for page in pages for fact in facts_on(page) if fact.source_event is not None}
