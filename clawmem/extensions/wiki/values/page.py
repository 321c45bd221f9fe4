"""The pages of the wiki as values: what each one shows, before it is Markdown or HTML; and its path in a site."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from clawmem.model.facts.fact import Fact
from clawmem.model.language.dates import day_of
from clawmem.model.language.text import one_line, shorten
from clawmem.model.records.entity import Entity, is_device
from clawmem.model.records.event import Event
from clawmem.model.records.layout import WIKI


class FactPlace(NamedTuple):
    """A fact on another page: the fact, the page's vault path, and its title. `page` is None if it has no page."""

    fact: Fact
    page: str | None
    title: str


class Premise(NamedTuple):
    """A fact that a claim rests on, with the sentence that says so."""

    place: FactPlace
    reason: str | None


class WikiClaim(NamedTuple):
    """A fact that passed the gates.

    `replaced` are the facts that it replaced, newest first. `mentions` are the pages of the entities that it names, by
    title."""

    fact: Fact
    replaced: tuple[Fact, ...] = ()
    premises: tuple[Premise, ...] = ()
    mentions: tuple[tuple[str, str], ...] = ()


class WikiConflict(NamedTuple):
    """Two current facts that contradict each other and are not settled."""

    one: FactPlace
    other: FactPlace


class DoubtfulClaim(NamedTuple):
    """A fact that would be on the page if it were not stale, with the reason."""

    fact: Fact
    reason: str


class PageLink(NamedTuple):
    """A link to another page: its vault path, its title, and how many claims are behind the link."""

    page: str
    title: str
    claims: int


class EntityPage(NamedTuple):
    """The page of an entity. `held_back` is the number of current facts that did not pass the gates. Those that only
    their time keeps from the claims are `coming` or `ended`."""

    path: str
    entity: Entity
    claims: tuple[WikiClaim, ...] = ()
    conflicts: tuple[WikiConflict, ...] = ()
    doubtful: tuple[DoubtfulClaim, ...] = ()
    topics: tuple[PageLink, ...] = ()
    backlinks: tuple[PageLink, ...] = ()
    held_back: int = 0
    coming: tuple[Fact, ...] = ()
    ended: tuple[Fact, ...] = ()


class TopicPage(NamedTuple):
    """The page of a topic: the entities with claims about it."""

    path: str
    topic: str
    entities: tuple[PageLink, ...] = ()


class PageEntry(NamedTuple):
    """What other pages and the next build need to know about an entity's page.

    `links` and `topics` count its claims by linked page and by topic. `newest` is the day of its newest claim. `due` is
    the first day on which time alone may change the page, or None."""

    path: str
    title: str
    aliases: Sequence[str]
    kind: str
    claims: int
    conflicts: int
    newest: str | None
    links: Mapping[str, int]
    topics: Mapping[str, int]
    due: str | None


FOLDER = WIKI
INDEX = f"{FOLDER}/index.md"
TOPICS = f"{FOLDER}/topics"
REPORTS = f"{FOLDER}/reports"
_PLAIN = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_HEADING = re.compile(r"^#[ \t]+(\S[^\n]*)", re.MULTILINE)
_LONGEST = 60


def entity_page(name: str) -> str:
    """Return the vault path of an entity's page, such as `wiki/areas/people/jane.md`."""
    return f"{FOLDER}/{'/'.join(map(file_name, name.split('/')))}.md"


def topic_page(topic: str) -> str:
    """Return the vault path of a topic's page, such as `wiki/topics/food.md`."""
    return f"{TOPICS}/{file_name(topic)}.md"


def file_name(text: str) -> str:
    """Return a file name without an extension.

    Plain text (a-z, 0-9, single hyphens) names itself. Any other text gets a hash of itself after what is left of it,
    so texts that differ only by case, accents or punctuation have different names, whatever other pages exist.
    """
    if _PLAIN.fullmatch(text) and len(text) <= _LONGEST and text != "index" and not is_device(text):
        return text
    folded = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    plain = re.sub(r"[^a-z0-9]+", "-", folded).strip("-")[:_LONGEST].strip("-")
    mark = hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:8]
    return f"{plain}-{mark}" if plain else mark


def title_of_text(text: str, path: str) -> str:
    """Return the title of a page that a person wrote: its first heading, else its file name."""
    heading = _HEADING.search(text)
    return heading[1] if heading else path.rpartition("/")[2].removesuffix(".md")


def relative_link(source: str, target: str) -> str:
    """Return the link from one page to another, both vault paths."""
    here, there = source.split("/")[:-1], target.split("/")
    shared = 0
    while shared < min(len(here), len(there) - 1) and here[shared] == there[shared]:
        shared += 1
    return "/".join([".."] * (len(here) - shared) + there[shared:])


OWN = "own"


class SaidOf(NamedTuple):
    """What was said or noted of an entity: the time (ISO 8601), who said it, the words, and the address in a site."""

    at: str
    who: str
    text: str
    place: str


class SitePage(NamedTuple):
    """The page of an entity with the events that its facts come from, by id, what people wrote there, as pairs of
    a vault path and Markdown, and what was said of it lately, the newest first."""

    page: EntityPage
    events: Mapping[str, Event]
    notes: tuple[tuple[str, str], ...] = ()
    said: tuple[SaidOf, ...] = ()


class SiteTopic(NamedTuple):
    """The page of a topic with what people wrote there, as Markdown."""

    page: TopicPage
    notes: str = ""


class OwnPage(NamedTuple):
    """A page that people wrote: its vault path, its title, and its Markdown."""

    path: str
    title: str
    text: str


class Conversation(NamedTuple):
    """What was said in one session on one day: its path in a site, the session with the day, and its events."""

    path: str
    about: str
    events: tuple[Event, ...]

    @property
    def title(self) -> str:
        """The first words that were said."""
        return shorten(one_line(self.events[0].text), 70) or self.about


def conversation_of(event: Event) -> tuple[str, str]:
    """Return the path in a site, and the session with the day, of the conversation that an event is part of."""
    day = day_of(event.timestamp)
    return (
        f"talk/{file_name(f'{day}-{event.session or event.source or day}')}.html",
        f"{event.session or 'Said'}, {day}",
    )


def conversations(events: Iterable[Event]) -> list[Conversation]:
    """Return the conversations that some events are part of, in the order of their first events."""
    found: dict[tuple[str, str], list[Event]] = {}
    for event in events:
        found.setdefault(conversation_of(event), []).append(event)
    return [Conversation(*name, tuple(members)) for name, members in found.items()]


class Site(NamedTuple):
    """A site: its pages, of which `pages` and `own` can be read once, and lists of them: `entries`, `totals` (claims by
    topic) and `others` (titles of own pages by vault path). `notes` is what people wrote on the index. `talks` is what
    was said, by the path of its page; None if the site has no messages."""

    pages: Iterable[SitePage]
    topics: tuple[SiteTopic, ...]
    own: Iterable[OwnPage]
    entries: tuple[PageEntry, ...]
    totals: Mapping[str, int]
    others: Mapping[str, str]
    notes: str = ""
    talks: Mapping[str, Conversation] | None = None


def site_path(page: str) -> str:
    """Return the path in a site of a generated wiki page, such as `areas/people/jane.html`."""
    return page.removeprefix(f"{FOLDER}/").removesuffix(".md") + ".html"


def own_path(page: str) -> str:
    """Return the path in a site of a page that people wrote, such as `own/wiki/sailing.html`."""
    return f"{OWN}/{'/'.join(map(file_name, page.removesuffix('.md').split('/')))}.html"


def site_paths(entries: Iterable[PageEntry], topics: Iterable[str], others: Iterable[str]) -> dict[str, str]:
    """Return the path in a site of every page by vault path. `topics` and `others` are vault paths."""
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
    yield from (*page.coming, *page.ended)


def source_events(page: EntityPage) -> set[str]:
    """Return the ids of the events that the facts of a page come from."""
    return {fact.source_event for fact in facts_on(page) if fact.source_event is not None}
