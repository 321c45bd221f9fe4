"""A site of the memory as files: pages, data for search and graph, styles, scripts, and the libraries they use."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from markupsafe import Markup

from clawmem.faces.web.html import LIBRARIES, POLICY, STATIC, data_script, template, written_html
from clawmem.model.facts.fact import Fact
from clawmem.model.facts.labels import change_labels, trust_label
from clawmem.model.language.dates import day_of
from clawmem.model.pages.tokens import fact_dates
from clawmem.model.records.entity import kind_of
from clawmem.model.records.event import display_speaker
from clawmem.model.wiki.markdown import grouped_claims, grouped_entries
from clawmem.model.wiki.memory_graph import memory_graph, positions
from clawmem.model.wiki.names import FOLDER, INDEX, relative_link
from clawmem.model.wiki.page import EntityPage, FactPlace, PageLink, TopicPage, WikiClaim
from clawmem.model.wiki.site import Site, site_path

_MENU = (
    ("index.html", "Index"),
    ("search.html", "Search"),
    ("graph.html", "Graph"),
    ("decisions.html", "Decisions"),
    ("lessons.html", "Lessons"),
)
_RECORDS = (("decisions", "Decisions", "decision"), ("lessons", "Lessons", "lesson"))


def render_site(site: Site) -> Iterator[tuple[str, bytes]]:
    """Yield every file of a site: its path below the site's folder, and its content. The same site gives the same
    bytes."""
    yield from library_files()
    for path in sorted(STATIC.iterdir()):
        yield f"static/{path.name}", path.read_bytes()
    known = {INDEX, *(page.path for page in site.pages), *(page.path for page in site.topics)}
    for page in site.pages:
        yield _page("entity.html", site_path(page.path), page.entity.title, **_entity_values(site, page, known))
    for topic in site.topics:
        yield _page("topic.html", site_path(topic.path), topic.topic, **_topic_values(site, topic, known))
    yield _index(site, known)
    for name, title, category in _RECORDS:
        yield _page("records.html", f"{name}.html", title, records=_records(site.pages, category))
    yield _page("search.html", "search.html", "Search")
    yield _page("graph.html", "graph.html", "Graph")
    yield "data/search-data.js", data_script("clawmemSearchData", list(_search_rows(site)))
    yield "data/graph-data.js", data_script("clawmemGraphData", graph_values(site, _node_link))


def library_files() -> Iterator[tuple[str, bytes]]:
    """Yield the JavaScript libraries with their licences, as `pins.json` beside them names them."""
    pins = json.loads((LIBRARIES / "pins.json").read_text("utf-8"))
    for pin in pins.values():
        for name in pin["files"]:
            yield f"libraries/{name}", (LIBRARIES / name).read_bytes()


def _page(name: str, path: str, title: str, **values: Any) -> tuple[str, bytes]:
    root = "../" * path.count("/")
    menu = [(root + target, words, target == path) for target, words in _MENU]
    text = template(name).render(title=title, root=root, menu=menu, policy=POLICY, **values)
    return path, text.encode("utf-8", errors="replace")


def _index(site: Site, known: set[str]) -> tuple[str, bytes]:
    groups = [
        (title, [(site_path(one.path), one.title, one.claims, one.newest) for one in entries])
        for title, entries in grouped_entries(site.entries)
    ]
    topics = [(site_path(one.path), one.topic, sum(link.claims for link in one.entities)) for one in site.topics]
    return _page(
        "index.html", "index.html", "Memory", groups=groups, topics=topics, written=_written(site, INDEX, known)
    )


def _entity_values(site: Site, page: EntityPage, known: set[str]) -> dict[str, Any]:
    entity = page.entity
    groups = [
        ("Facts" if category == "fact" else category.capitalize(), [_claim_values(site, one, page) for one in claims])
        for category, claims in grouped_claims(page.claims)
    ]
    conflicts = [[_side(site, one, page.path) for one in conflict] for conflict in page.conflicts]
    return {
        "entity": entity,
        "node": page.path,
        "kind": (entity.kind or kind_of(entity.name)).capitalize(),
        "claims": len(page.claims),
        "groups": groups,
        "conflicts": conflicts,
        "doubtful": [(_fact_values(site, one.fact), one.reason) for one in page.doubtful],
        "topics": _links(page.topics, page.path),
        "backlinks": _links(page.backlinks, page.path),
        "held_back": page.held_back,
        "written": _written(site, page.path, known),
    }


def _topic_values(site: Site, page: TopicPage, known: set[str]) -> dict[str, Any]:
    return {"links": _links(page.entities, page.path), "written": _written(site, page.path, known)}


def _written(site: Site, path: str, known: set[str]) -> Markup | None:
    text = site.written.get(path)
    return written_html(text, path, known) if text else None


def _claim_values(site: Site, claim: WikiClaim, page: EntityPage) -> dict[str, Any]:
    rivals = [
        other
        for conflict in page.conflicts
        for one, other in (tuple(conflict), tuple(conflict)[::-1])
        if one.fact.id == claim.fact.id
    ]
    return {
        "fact": _fact_values(site, claim.fact),
        "mentions": [(_link(page.path, path), title) for path, title in claim.mentions],
        "premises": [(_side(site, one.place, page.path), one.reason) for one in claim.premises],
        "replaced": [_fact_values(site, old) for old in claim.replaced],
        "conflicts": [_side(site, one, page.path) for one in rivals],
    }


def _side(site: Site, place: FactPlace, page: str) -> dict[str, Any]:
    link = _link(page, place.page) + f"#{place.fact.id}" if place.page else None
    return {"link": link, "title": place.title, "fact": _fact_values(site, place.fact)}


def _fact_values(site: Site, fact: Fact) -> dict[str, Any]:
    event = site.events.get(fact.source_event or "")
    return {
        "id": fact.id,
        "text": fact.fact,
        "dates": fact_dates(fact),
        "recorded": day_of(fact.timestamp),
        "confidence": None if fact.confidence is None else f"{fact.confidence:.2f}",
        "trust": trust_label(fact) or "user",
        "labels": change_labels(fact),
        "source": fact.source,
        "event": fact.source_event,
        "said": None if event is None else (day_of(event.timestamp), display_speaker(event)),
        "quote": fact.source_text,
        "tags": fact.tags,
    }


def _links(links: Iterable[PageLink], page: str) -> list[tuple[str, str, int]]:
    return [(_link(page, one.page), one.title, one.claims) for one in links]


def _link(page: str, target: str) -> str:
    return relative_link(f"{FOLDER}/{site_path(page)}", f"{FOLDER}/{site_path(target)}")


def _records(pages: Iterable[EntityPage], category: str) -> list[tuple[str, str, str, str]]:
    """Return the claims of a category, newest first: day, statement, link, title of the page."""
    found = [
        (day_of(claim.fact.timestamp), claim.fact.fact, f"{site_path(page.path)}#{claim.fact.id}", page.entity.title)
        for page in pages
        for claim in page.claims
        if claim.fact.category == category
    ]
    return sorted(found, key=lambda one: (one[0], one[2]), reverse=True)


def _search_rows(site: Site) -> Iterator[list[Any]]:
    """Yield what can be found: link, title of the page, words, kind, day, trust."""
    for page in site.pages:
        path, entity = site_path(page.path), page.entity
        kind = entity.kind or kind_of(entity.name)
        yield [path, entity.title, " ".join((*entity.aliases, site.written.get(page.path, ""))), kind, None, None]
        for claim in page.claims:
            fact = claim.fact
            row = [fact.fact, fact.category, day_of(fact.timestamp), trust_label(fact) or "user"]
            yield [f"{path}#{fact.id}", entity.title, *row]
    for topic in site.topics:
        yield [site_path(topic.path), topic.topic, "", "topic", None, None]


def graph_values(site: Site, link: Callable[[str, str | None], str | None]) -> Mapping[str, Any]:
    """Return nodes as lists (id, kind, label, link, trust, since, until, x, y) and edges by the nodes' numbers.

    `link` gives the address of a node from its id and the vault path of its page."""
    graph = memory_graph(site.pages)
    places = positions(graph)
    numbers = {node.id: number for number, node in enumerate(graph.nodes)}
    nodes = [
        [
            node.id,
            node.kind,
            node.label,
            link(node.id, node.page),
            node.trust,
            node.since,
            node.until,
            *places[node.id],
        ]
        for node in graph.nodes
    ]
    edges = [[numbers[edge.source], numbers[edge.target], edge.kind] for edge in graph.edges]
    return {"nodes": nodes, "edges": edges}


def _node_link(node_id: str, page: str | None) -> str | None:
    if page is None:
        return None
    return site_path(page) if node_id == page else f"{site_path(page)}#{node_id}"
