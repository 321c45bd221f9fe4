"""The pages of the wiki as values: what each one shows, before it is Markdown or HTML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from clawmem.model.facts.fact import Fact
from clawmem.model.records.entity import Entity


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
    """A link to another page: its vault path, its title, and how many claims are behind the link. `by_hand` says that
    what people wrote on the one page links to the other."""

    page: str
    title: str
    claims: int
    by_hand: bool = False


class EntityPage(NamedTuple):
    """The page of an entity. `held_back` is the number of current facts that did not pass the gates."""

    path: str
    entity: Entity
    claims: tuple[WikiClaim, ...] = ()
    conflicts: tuple[WikiConflict, ...] = ()
    doubtful: tuple[DoubtfulClaim, ...] = ()
    topics: tuple[PageLink, ...] = ()
    backlinks: tuple[PageLink, ...] = ()
    held_back: int = 0


class TopicPage(NamedTuple):
    """The page of a topic: the entities with claims about it, and the pages that link to it."""

    path: str
    topic: str
    entities: tuple[PageLink, ...] = ()
    backlinks: tuple[PageLink, ...] = ()


class HandLinks(NamedTuple):
    """What people wrote on a page links to: the title of their text, the targets as written, each with whether it is a
    `[[link]]`, the compiled pages to which they lead, and the title that the page has as a compiled one, if it is."""

    own_title: str
    targets: Sequence[Sequence[object]]
    pages: Sequence[str] = ()
    title: str | None = None


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
