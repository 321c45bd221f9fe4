"""The memory as a graph: entities, facts and decisions, with premises, contradictions and replacements as edges."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import NamedTuple

from clawmem.extensions.wiki.values.page import EntityPage, FactPlace
from clawmem.model.facts.fact import Fact
from clawmem.model.language.dates import day_of
from clawmem.model.pages.tokens import said_on

ENTITY, FACT, DECISION = "entity", "fact", "decision"
ABOUT, MENTIONS, RESTS_ON, CONTRADICTS, REPLACES = "about", "mentions", "rests_on", "contradicts", "replaces"
_GOLDEN_ANGLE = math.pi * (3 - math.sqrt(5))


class MemoryNode(NamedTuple):
    """An entity or a fact. `page` is the vault path of its wiki page. `since` and `until` are the days on which it
    became true or known, and ceased to be true or was replaced, if known."""

    id: str
    kind: str
    label: str
    page: str | None
    trust: str | None = None
    since: str | None = None
    until: str | None = None


class MemoryEdge(NamedTuple):
    """An edge between two nodes, by id; `kind` reads from `source` to `target`."""

    source: str
    target: str
    kind: str


class MemoryGraph(NamedTuple):
    """Nodes and edges, both in a fixed order; every edge joins two of the nodes."""

    nodes: tuple[MemoryNode, ...]
    edges: tuple[MemoryEdge, ...]


def memory_graph(pages: Iterable[EntityPage], others: Collection[str] = ()) -> MemoryGraph:
    """Return the graph of what wiki pages show. `others` are the paths of further pages, to which edges may lead
    without a node for them."""
    pages = tuple(pages)
    nodes: dict[str, MemoryNode] = {}
    edges: dict[MemoryEdge, None] = {}
    entities = {*others, *(page.path for page in pages)}
    for page in pages:
        nodes[page.path] = MemoryNode(page.path, ENTITY, page.entity.title, page.path)
    for page in pages:
        for fact in (*(claim.fact for claim in page.claims), *(claim.fact for claim in page.doubtful)):
            nodes[fact.id] = _node(fact, page.path)
            edges[MemoryEdge(fact.id, page.path, ABOUT)] = None
        edges.update(dict.fromkeys(_edges(page, nodes, entities)))
    return MemoryGraph(tuple(nodes.values()), tuple(edges))


def _edges(page: EntityPage, nodes: dict[str, MemoryNode], entities: Collection[str]) -> Iterator[MemoryEdge]:
    """Yield the edges of a page's claims and conflicts, and add the facts at their other ends to the nodes."""

    def place(value: FactPlace) -> Iterator[MemoryEdge]:
        if value.fact.id not in nodes:
            nodes[value.fact.id] = _node(value.fact, value.page)
            if value.page is not None and value.page in entities:
                yield MemoryEdge(value.fact.id, value.page, ABOUT)

    for claim in page.claims:
        for path, _ in claim.mentions:
            if path in entities:
                yield MemoryEdge(claim.fact.id, path, MENTIONS)
        for premise in claim.premises:
            yield from place(premise.place)
            yield MemoryEdge(claim.fact.id, premise.place.fact.id, RESTS_ON)
        known = {claim.fact.id: claim.fact}
        for old in claim.replaced:
            heir = known.get(old.superseded_by or "", claim.fact)
            nodes[old.id] = _node(old, page.path)._replace(until=_since(heir))
            known[old.id] = old
            yield MemoryEdge(heir.id, old.id, REPLACES)
            yield MemoryEdge(old.id, page.path, ABOUT)
    for conflict in page.conflicts:
        yield from place(conflict.one)
        yield from place(conflict.other)
        text, other = sorted((conflict.one.fact.id, conflict.other.fact.id))
        yield MemoryEdge(text, other, CONTRADICTS)


def _node(fact: Fact, page: str | None) -> MemoryNode:
    kind = DECISION if fact.category == "decision" else FACT
    until = day_of(fact.valid_to) if fact.valid_to else None
    return MemoryNode(fact.id, kind, fact.fact, page, fact.trust or "user", _since(fact), until)


def _since(fact: Fact) -> str:
    """Return the day from which a fact is true, else that on which it was said, else that on which it was recorded."""
    return day_of(fact.valid_from or said_on(fact) or fact.timestamp)


def middles(sizes: Mapping[str, int]) -> dict[str, tuple[float, float]]:
    """Return a place for each entity, given the number of nodes around it: the entities are on one spiral, those with
    most nodes in the middle.

    This is the arrangement of a sunflower's seeds (H. Vogel, 1979): the n-th point has the angle n times the golden
    angle and a distance from the middle whose square grows with the area of the points before it. The nodes of an
    entity are arranged around it in the same way, when they are drawn.
    """
    places: dict[str, tuple[float, float]] = {}
    area = 0.0
    for number, (name, size) in enumerate(sorted(sizes.items(), key=lambda item: (-item[1], item[0]))):
        own = 4.0 * (size + 3)
        distance, angle = math.sqrt(area + own / 2), number * _GOLDEN_ANGLE
        x, y = (distance * math.cos(angle), distance * math.sin(angle)) if number else (0.0, 0.0)
        places[name] = (round(x, 2), round(y, 2))
        area += own
    return places
