"""A site of the memory as files: pages, data for search and graph, styles, scripts, and the libraries they use.

The neighbourhood of an entity as a small drawing: the pages that it mentions and that mention it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from markupsafe import Markup

from clawmem.extensions.wiki.values.markdown import grouped_claims, grouped_entries, link_details
from clawmem.extensions.wiki.values.page import (
    FOLDER,
    INDEX,
    EntityPage,
    FactPlace,
    PageLink,
    Site,
    SitePage,
    SiteTopic,
    WikiClaim,
    file_name,
    own_path,
    relative_link,
    site_path,
    site_paths,
    topic_page,
)
from clawmem.extensions.wiki.web.html import LIBRARIES, POLICY, STATIC, template
from clawmem.extensions.wiki.web.notes import NoteRenderer
from clawmem.extensions.wiki.web.site_data import (
    TOPICS,
    GraphEntities,
    Part,
    RecordList,
    SearchIndex,
    data_path,
    entity_data,
    key_of,
    own_data,
    parts,
    topics_data,
)
from clawmem.model.facts.fact import Fact
from clawmem.model.facts.fact_words import change_labels, reasons_of, trust_words
from clawmem.model.language.dates import day_of
from clawmem.model.language.text import counted
from clawmem.model.pages.tokens import fact_dates
from clawmem.model.records.entity import kind_of
from clawmem.model.records.event import display_speaker

_MENU = (
    ("index.html", "Index"),
    ("search.html", "Search"),
    ("graph.html", "Graph"),
    ("decisions.html", "Decisions"),
    ("lessons.html", "Lessons"),
    ("pages.html", "Pages"),
)
_RECORDS = (("decisions", "Decisions", "decision"), ("lessons", "Lessons", "lesson"))
File = tuple[str, bytes]


def render_site(site: Site) -> Iterator[File]:
    """Yield the files of a site: the path of each below the site's folder, and its content. The same site gives the
    same bytes."""
    yield from library_files()
    for path in sorted(STATIC.iterdir()):
        yield f"static/{path.name}", path.read_bytes()
    yield from _Renderer(site).files()


def library_files() -> Iterator[tuple[str, bytes]]:
    """Yield the JavaScript libraries with their licences, as `pins.json` beside them names them."""
    pins = json.loads((LIBRARIES / "pins.json").read_text("utf-8"))
    for pin in pins.values():
        for name in pin["files"]:
            yield f"libraries/{name}", (LIBRARIES / name).read_bytes()


class _Renderer:
    """Renders a site, and collects what its pages say for lists, search and graph."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._known = site_paths(site.entries, map(topic_page, site.totals), site.others)
        self._notes = NoteRenderer(self._known)
        self._search = SearchIndex()
        self._graph = GraphEntities()
        self._lists = {name: RecordList(name, category) for name, _, category in _RECORDS}

    def files(self) -> Iterator[File]:
        site = self._site
        for page in site.pages:
            yield from self._entity(page)
        for topic in site.topics:
            yield from self._topic(topic)
        for own in site.own:
            path = own_path(own.path)
            text = _without_title(own.text, own.title)
            values = {"written": self._notes.html(text, own.path, path, 1), "source": own.path}
            yield _page("own.html", path, own.title, **values)
            yield self._data(path, own_data(own))
        yield self._topics_data()
        yield from self._index()
        yield from self._own_list()
        for name, title, _ in _RECORDS:
            for path, values in self._lists[name].pages():
                yield _page("records.html", path, title, **values)
        yield _page("search.html", "search.html", "Search")
        yield _page("graph.html", "graph.html", "Graph")
        yield from self._search.files()
        yield self._graph.file(site.entries)

    def _data(self, path: str, data: Mapping[str, Any]) -> File:
        return data_path(key_of(path)), self._search.put(key_of(path), data)

    def _topics_data(self) -> File:
        paths = {topic: site_path(topic_page(topic)) for topic in self._site.totals}
        return data_path(TOPICS), self._search.put(TOPICS, topics_data(self._site.totals, paths))

    def _entity(self, page: SitePage) -> Iterator[File]:
        path = site_path(page.page.path)
        data = entity_data(page, self._known)
        self._graph.put(data)
        for lists in self._lists.values():
            lists.put(path, [claim.fact for claim in page.page.claims], page.page.entity.title)
        yield _page("entity.html", path, page.page.entity.title, **self._entity_values(page))
        yield self._data(path, data)

    def _topic(self, topic: SiteTopic) -> Iterator[File]:
        page = topic.page
        path = site_path(page.path)
        found = parts(path, self._links(page.entities, page.path))
        yield _page(
            "topic.html",
            path,
            page.topic,
            links=found[0].items,
            written=self._written(((page.path, topic.notes),) if topic.notes else (), path),
            backlinks=self._links(page.backlinks, page.path),
            parts=_part_links(found[0]),
        )
        for part in found[1:]:
            heading = f"{page.topic}, part {part.number}"
            yield _listed(part.path, heading, part)

    def _index(self) -> Iterator[File]:
        site = self._site
        groups = []
        for title, entries in grouped_entries(site.entries):
            items = [(site_path(entry.path), entry.title, entry.claims, entry.newest) for entry in entries]
            found = parts(f"index_{file_name(title.casefold())}.html", items)
            groups.append((title, found[0].items, _part_links(found[0])))
            for part in found[1:]:
                yield _page(
                    "index_part.html",
                    part.path,
                    f"{title}, part {part.number}",
                    entries=part.items,
                    parts=_part_links(part),
                )
        topics = sorted(site.totals.items(), key=lambda item: (item[0].casefold(), item[0]))
        rows = [(site_path(topic_page(topic)), topic, counted(claims, "claim")) for topic, claims in topics]
        found = parts("index_topics.html", rows)
        groups_of_topics = (found[0].items, _part_links(found[0]))
        for part in found[1:]:
            yield _listed(part.path, f"Topics, part {part.number}", part)
        written = self._written(((INDEX, site.notes),) if site.notes else (), "index.html")
        yield _page("index.html", "index.html", "Memory", groups=groups, topics=groups_of_topics, written=written)

    def _own_list(self) -> Iterator[File]:
        rows = [(own_path(path), title, path) for path, title in self._site.others.items()]
        found = parts("pages.html", sorted(rows, key=lambda row: (row[1].casefold(), row[2])))
        for part in found:
            yield _page("pages.html", part.path, "Pages", rows=part.items, parts=_part_links(part))

    def _links(self, links: Iterable[PageLink], page: str) -> list[tuple[str, str, str]]:
        here = site_path(page)
        places = ((link, self._known.get(link.page) or site_path(link.page)) for link in links)
        return [(relative_link(here, place), link.title, link_details(link)) for link, place in places]

    def _written(self, notes: Iterable[tuple[str, str]], page: str) -> list[Markup]:
        return [self._notes.html(text, path, page) for path, text in notes]

    def _entity_values(self, value: SitePage) -> dict[str, Any]:
        page, entity = value.page, value.page.entity
        rivals = _rivals(page)
        groups = [
            (
                "Facts" if category == "fact" else category.capitalize(),
                [_claim_values(value, claim, rivals.get(claim.fact.id, ())) for claim in claims],
            )
            for category, claims in grouped_claims(page.claims)
        ]
        beside = neighbours(page)
        return {
            "entity": entity,
            "node": site_path(page.path),
            "kind": (entity.kind or kind_of(entity.name)).capitalize(),
            "claims": len(page.claims),
            "groups": groups,
            "conflicts": _conflicts(value),
            "doubtful": [(_fact_values(value, claim.fact), claim.reason) for claim in page.doubtful],
            "topics": self._links(page.topics, page.path),
            "backlinks": self._links(page.backlinks, page.path),
            "held_back": page.held_back,
            "written": self._written(value.notes, site_path(page.path)),
            "drawing": [
                (drawn_neighbour, _link(page.path, drawn_neighbour.neighbour.path)) for drawn_neighbour in drawn(beside)
            ],
            "beside": [(neighbour, _link(page.path, neighbour.path)) for neighbour in beside],
            "size": (WIDTH, height_of(beside)),
        }


def _page(name: str, path: str, title: str, **values: Any) -> tuple[str, bytes]:
    root = "../" * path.count("/")
    menu = [(root + target, words, target == path) for target, words in _MENU]
    text = template(name).render(title=title, root=root, menu=menu, policy=POLICY, **values)
    return path, text.encode("utf-8", errors="replace")


def _listed(path: str, title: str, part: Part) -> tuple[str, bytes]:
    """Return a further part of a list of links."""
    return _page("topic.html", path, title, links=part.items, written=[], backlinks=[], parts=_part_links(part))


def _without_title(text: str, title: str) -> str:
    """Return Markdown without the heading that is the title of its page."""
    first, _, rest = text.lstrip().partition("\n")
    return rest if first.strip() == f"# {title}" else text


def _part_links(part: Part) -> list[tuple[str, int, bool]]:
    """Return the links between the parts of a list; none if there is one part."""
    if len(part.paths) == 1:
        return []
    return [(relative_link(part.path, path), at + 1, at + 1 == part.number) for at, path in enumerate(part.paths)]


def _rivals(page: EntityPage) -> dict[str, list[FactPlace]]:
    """Return the facts that contradict each fact of a page, by id."""
    found: dict[str, list[FactPlace]] = {}
    for place, other in page.conflicts:
        found.setdefault(place.fact.id, []).append(other)
        found.setdefault(other.fact.id, []).append(place)
    return found


def _claim_values(value: SitePage, claim: WikiClaim, rivals: Iterable[FactPlace]) -> dict[str, Any]:
    page = value.page
    return {
        "fact": _fact_values(value, claim.fact),
        "reasons": list(reasons_of(claim.fact)),
        "mentions": [(_link(page.path, path), title) for path, title in claim.mentions],
        "premises": [(_side(value, premise.place), premise.reason) for premise in claim.premises],
        "replaced": _history(value, claim),
        "conflicts": [_side(value, rival) for rival in rivals],
    }


def _history(page: SitePage, claim: WikiClaim) -> list[tuple[dict[str, Any], str, str]]:
    """Return what a claim replaced, newest first, each with the day on which it was replaced and what replaced it."""
    heirs = {fact.id: fact for fact in (claim.fact, *claim.replaced)}
    found = []
    for old in claim.replaced:
        heir = heirs.get(old.superseded_by or "", claim.fact)
        found.append((_fact_values(page, old), day_of(heir.timestamp), heir.fact))
    return found


def _conflicts(value: SitePage) -> list[list[dict[str, Any]]]:
    """Return both sides of each conflict. A fact of this page that has no other place there has its id here, once."""
    page = value.page
    placed = {claim.fact.id for claim in page.claims} | {claim.fact.id for claim in page.doubtful}
    placed |= {old.id for claim in page.claims for old in claim.replaced}
    found = []
    for conflict in page.conflicts:
        sides = []
        for place in conflict:
            is_here = place.page == page.path and place.fact.id not in placed
            placed.add(place.fact.id)
            sides.append({**_side(value, place), "id": place.fact.id if is_here else None})
        found.append(sides)
    return found


def _side(page: SitePage, place: FactPlace) -> dict[str, Any]:
    link = _link(page.page.path, place.page) + f"#{place.fact.id}" if place.page else None
    return {"link": link, "title": place.title, "fact": _fact_values(page, place.fact)}


def _fact_values(page: SitePage, fact: Fact) -> dict[str, Any]:
    event = page.events.get(fact.source_event or "")
    return {
        "id": fact.id,
        "text": fact.fact,
        "dates": fact_dates(fact),
        "recorded": day_of(fact.timestamp),
        "confidence": None if fact.confidence is None else f"{fact.confidence:.2f}",
        "trust": trust_words(fact),
        "labels": change_labels(fact),
        "source": fact.source,
        "event": fact.source_event,
        "said": None if event is None else (day_of(event.timestamp), display_speaker(event)),
        "quote": fact.source_text,
        "tags": fact.tags,
    }


def _link(page: str, target: str) -> str:
    return relative_link(f"{FOLDER}/{site_path(page)}", f"{FOLDER}/{site_path(target)}")


MOST = 12
WIDTH = 520
_LONGEST = 18


class Neighbour(NamedTuple):
    """A page beside an entity's: its vault path, its title, and the number of claims that lead there and back."""

    path: str
    title: str
    there: int
    back: int


class DrawnNeighbour(NamedTuple):
    """A neighbour in the drawing, with the place of its dot, of its words, and the side on which they stand."""

    neighbour: Neighbour
    words: str
    x: int
    y: int
    side: str


def neighbours(page: EntityPage) -> list[Neighbour]:
    """Return the neighbours of an entity by claims, those with most claims first."""
    found: dict[str, Neighbour] = {}
    for claim in page.claims:
        beside = dict(claim.mentions)
        beside.update((premise.place.page, premise.place.title) for premise in claim.premises if premise.place.page)
        for path, title in beside.items():
            if path != page.path:
                known = found.get(path, Neighbour(path, title, 0, 0))
                found[path] = known._replace(there=known.there + 1)
    for link in page.backlinks:
        if link.claims:
            known = found.get(link.page, Neighbour(link.page, link.title, 0, 0))
            found[link.page] = known._replace(back=link.claims)
    return sorted(
        found.values(),
        key=lambda neighbour: (-neighbour.there - neighbour.back, neighbour.title.casefold(), neighbour.path),
    )


def height_of(found: list[Neighbour]) -> int:
    """Return the height of the drawing of some neighbours."""
    return 60 + 20 * min(len(found), MOST)


def drawn(found: list[Neighbour]) -> list[DrawnNeighbour]:
    """Return the first neighbours on an ellipse around the middle of the drawing, the first one on the right."""
    shown, height = found[:MOST], height_of(found)
    places = []
    for number, neighbour in enumerate(shown):
        angle = 2 * math.pi * number / len(shown)
        x = round(WIDTH / 2 + WIDTH * 0.2 * math.cos(angle))
        y = round(height / 2 + (height / 2 - 16) * math.sin(angle))
        side = "right" if x >= WIDTH / 2 else "left"
        places.append(DrawnNeighbour(neighbour, shortened(neighbour.title), x, y, side))
    return places


def shortened(title: str) -> str:
    """Return a title for the drawing."""
    return title if len(title) <= _LONGEST else title[: _LONGEST - 1] + "\u2026"
