"""The graph of the memory: its nodes, edges, parts and places."""

from __future__ import annotations

import math
from typing import Any

import pytest

from clawmem.extensions.wiki.values.page import EntityPage, FactPlace, Premise, SitePage, WikiClaim, WikiConflict
from clawmem.extensions.wiki.web.site_data import HOME, ID, KIND, SINCE, STATE, UNTIL, entity_data, middles
from clawmem.model.facts.fact import SUPERSEDED, Fact
from clawmem.model.records.entity import Entity

JANE, BOAT = "wiki/areas/people/jane.md", "wiki/projects/boat.md"


def fact(fact_id: str, **keys: object) -> Fact:
    value = Fact(fact_id, f"Statement {fact_id}.", "fact", "2026-11-20T09:00:00Z", "user")
    return value._replace(**keys)  # type: ignore[arg-type]


@pytest.fixture
def pages() -> dict[str, dict[str, Any]]:
    long = fact("fact_long")
    home = fact("fact_home", valid_from="2026-03-01")
    old = fact("fact_old", status=SUPERSEDED, superseded_by="fact_home", valid_from="2020-01-01")
    berth = WikiClaim(fact("fact_berth", category="decision"), (), (Premise(FactPlace(long, BOAT, "Boat"), None),))
    rivals = WikiConflict(FactPlace(fact("fact_red"), BOAT, "Boat"), FactPlace(fact("fact_blue"), None, "Elsewhere"))
    jane = EntityPage(
        JANE, Entity("areas/people/jane", "Jane"), (berth, WikiClaim(home, (old,), (), ((BOAT, "Boat"),)))
    )
    over = fact("fact_over", valid_to="2026-11-01")
    boat = EntityPage(BOAT, Entity("projects/boat", "Boat"), (WikiClaim(long),), (rivals,), ended=(over,))
    known = {JANE: "areas/people/jane.html", BOAT: "projects/boat.html"}
    return {page.path: entity_data(SitePage(page, {}), known) for page in (jane, boat)}


def test_nodes_have_their_kind_page_and_time(pages: dict[str, dict[str, Any]]) -> None:
    jane, boat = ({row[ID]: row for row in pages[path]["facts"]} for path in (JANE, BOAT))
    assert jane.keys() == {"fact_berth", "fact_home", "fact_old", "fact_long"}
    assert boat.keys() == {"fact_long", "fact_over", "fact_red", "fact_blue"}
    assert jane["fact_berth"][KIND] == "decision" and jane["fact_home"][KIND] == "fact"
    assert (jane["fact_old"][SINCE], jane["fact_old"][UNTIL]) == ("2020-01-01", "2026-03-01")
    assert jane["fact_long"][HOME] == "projects/boat.html" and boat["fact_long"][HOME] is None
    assert boat["fact_blue"][HOME] == "" and boat["fact_over"][STATE] == "ended"


def test_edges_say_mentions_premise_conflict_and_replacement(pages: dict[str, dict[str, Any]]) -> None:
    found = set()
    for page in pages.values():
        ids = [row[ID] for row in page["facts"]]
        found |= {(kind, *(ids[end] if isinstance(end, int) else end for end in ends)) for kind, *ends in page["edges"]}
    assert found == {
        ("mentions", "fact_home", "projects/boat.html"), ("rests_on", "fact_berth", "fact_long"),
        ("contradicts", "fact_blue", "fact_red"), ("replaces", "fact_home", "fact_old"),
    }  # fmt: skip


def test_every_entity_has_a_place_of_its_own_and_room_around_it() -> None:
    sizes = {f"page {number}": number for number in range(1, 60)}
    places = middles(sizes)
    assert places == middles(dict(reversed(sizes.items()))) and places["page 59"] == (0.0, 0.0)
    for text, (x, y) in places.items():
        nearest = min(math.dist((x, y), place) for other, place in places.items() if other != text)
        assert nearest > math.sqrt(sizes[text])
