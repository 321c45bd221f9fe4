"""The graph of the memory: its nodes, edges, parts and places."""

from __future__ import annotations

import math

import pytest

from clawmem.extensions.wiki.values.page import EntityPage, FactPlace, Premise, WikiClaim, WikiConflict
from clawmem.extensions.wiki.web.site_data import MemoryEdge, MemoryGraph, memory_graph, middles
from clawmem.model.facts.fact import SUPERSEDED, Fact
from clawmem.model.records.entity import Entity

JANE, BOAT = "wiki/areas/people/jane.md", "wiki/projects/boat.md"


def fact(fact_id: str, **keys: object) -> Fact:
    value = Fact(fact_id, f"Statement {fact_id}.", "fact", "2026-11-20T09:00:00Z", "user")
    return value._replace(**keys)  # type: ignore[arg-type]


@pytest.fixture
def graph() -> MemoryGraph:
    long = fact("fact_long")
    home = fact("fact_home", valid_from="2026-03-01")
    old = fact("fact_old", status=SUPERSEDED, superseded_by="fact_home", valid_from="2020-01-01")
    berth = WikiClaim(fact("fact_berth", category="decision"), (), (Premise(FactPlace(long, BOAT, "Boat"), None),))
    rivals = WikiConflict(FactPlace(fact("fact_red"), BOAT, "Boat"), FactPlace(fact("fact_blue"), None, "Elsewhere"))
    jane = EntityPage(
        JANE, Entity("areas/people/jane", "Jane"), (berth, WikiClaim(home, (old,), (), ((BOAT, "Boat"),)))
    )
    boat = EntityPage(BOAT, Entity("projects/boat", "Boat"), (WikiClaim(long),), (rivals,))
    return memory_graph([jane, boat])


def test_nodes_have_their_kind_page_and_time(graph: MemoryGraph) -> None:
    nodes = {node.id: node for node in graph.nodes}
    assert nodes.keys() == {
        JANE, BOAT, "fact_long", "fact_home", "fact_old", "fact_berth", "fact_red", "fact_blue",
    }  # fmt: skip
    assert nodes["fact_berth"].kind == "decision" and nodes[JANE].kind == "entity"
    assert (nodes["fact_old"].since, nodes["fact_old"].until) == ("2020-01-01", "2026-03-01")
    assert nodes["fact_long"].page == BOAT and nodes["fact_blue"].page is None


def test_edges_say_about_mentions_premise_conflict_and_replacement(graph: MemoryGraph) -> None:
    for wanted in (
        ("fact_home", JANE, "about"),
        ("fact_home", BOAT, "mentions"),
        ("fact_berth", "fact_long", "rests_on"),
        ("fact_blue", "fact_red", "contradicts"),
        ("fact_home", "fact_old", "replaces"),
    ):
        assert MemoryEdge(*wanted) in graph.edges
    ids = {node.id for node in graph.nodes}
    assert all({edge.source, edge.target} <= ids for edge in graph.edges)
    assert len(set(graph.edges)) == len(graph.edges)


def test_every_entity_has_a_place_of_its_own_and_room_around_it() -> None:
    sizes = {f"page {number}": number for number in range(1, 60)}
    places = middles(sizes)
    assert places == middles(dict(reversed(sizes.items()))) and places["page 59"] == (0.0, 0.0)
    for text, (x, y) in places.items():
        nearest = min(math.dist((x, y), place) for other, place in places.items() if other != text)
        assert nearest > math.sqrt(sizes[text])
