"""The graph: neighbours and ways over links, relations, subjects and places."""

from __future__ import annotations

import random

import pytest

from clawmem.errors import NotFound
from clawmem.index.search.channels import FactFilter
from clawmem.memory.entities.entities import create_entity, move_entity
from clawmem.memory.facts.remember import remember
from clawmem.memory.facts.revise import link, supersede
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.records.caller import Caller
from clawmem.serving.graph import GraphWalk, neighbors, shortest_path
from clawmem.vault.vault import Vault

ALL = FactFilter()


def keep(vault: Vault, caller: Caller, text: str, **more: object) -> str:
    """A new fact's id."""
    return remember(vault, [draft_from_record({"fact": text, **more}, caller.now)], caller).facts[0].fact.id


def around(found: GraphWalk) -> set[tuple[str, str, bool, int]]:
    """What was found, without its texts."""
    return {(step.edge.relation, step.node.name, step.edge.forward, step.depth) for step in found.steps}


def test_a_fact_is_joined_to_its_place_its_links_and_what_it_is_about(vault: Vault, caller: Caller) -> None:
    create_entity(vault, "areas/people/jane", caller, "Jane")
    tea = keep(vault, caller, "Jane drinks tea", subject="Jane", entity="areas/habits", related_entities=["projects/x"])
    late = keep(vault, caller, "Tea keeps Jane awake", entity="areas/health")
    link(vault, late, "supports", tea, caller)
    assert around(neighbors(vault, tea, caller, ALL, 1, 50)) == {
        ("related", "projects/x", True, 1),
        ("about", "areas/people/jane", True, 1),
        ("in", "areas/habits", True, 1),
        ("supports", late, False, 1),
    }
    assert ("about", tea, False, 1) in around(neighbors(vault, "Jane", caller, ALL, 1, 50))
    assert around(neighbors(vault, "projects/x", caller, ALL, 1, 50)) == {("related", tea, False, 1)}
    two = around(neighbors(vault, "areas/health", caller, ALL, 2, 50))
    assert {("in", late, False, 1), ("supports", tea, True, 2)} <= two


def test_a_way_is_the_shortest_and_says_each_step(vault: Vault, caller: Caller) -> None:
    a, b, c = (keep(vault, caller, f"fact number {n}", entity=f"projects/p{n}") for n in "abc")
    link(vault, a, "depends_on", b, caller)
    link(vault, c, "derived_from", b, caller)
    found = shortest_path(vault, "projects/pa", c, caller, ALL, 6)
    assert [(step.edge.relation, step.edge.forward, step.node.name) for step in found.steps] == [
        ("in", False, a),
        ("depends_on", True, b),
        ("derived_from", False, c),
    ]
    with pytest.raises(NotFound, match="No path of at most 2 steps"):
        shortest_path(vault, "projects/pa", c, caller, ALL, 2)
    assert shortest_path(vault, a, a, caller, ALL, 6).steps == ()


def test_replaced_facts_are_walked_only_where_asked(vault: Vault, caller: Caller) -> None:
    old = keep(vault, caller, "Jane lives in Oslo", entity="areas/people/jane")
    new = supersede(vault, old, draft_from_record({"fact": "Jane lives in Rome"}, caller.now), caller).facts[0].fact.id
    assert old not in {step.node.name for step in neighbors(vault, new, caller, ALL, 1, 50).steps}
    every = around(neighbors(vault, new, caller, FactFilter(superseded=True), 1, 50))
    assert ("supersedes", old, True, 1) in every


def test_agents_see_the_global_graph_and_their_own(vault: Vault, caller: Caller) -> None:
    agent = caller._replace(agent="finance")
    own = keep(vault, agent, "The budget is tight", entity="@finance/projects/budget", related_entities=["projects/x"])
    keep(vault, caller, "x is a project", entity="projects/x")
    assert own not in {step.node.name for step in neighbors(vault, "projects/x", caller, ALL, 1, 50).steps}
    mine = neighbors(vault, "projects/x", agent, FactFilter(owners=("", "finance")), 1, 50)
    assert own in {step.node.name for step in mine.steps}


def test_a_moved_entity_keeps_what_points_at_it(vault: Vault, caller: Caller) -> None:
    create_entity(vault, "projects/site", caller)
    fact = keep(vault, caller, "The logo is blue", entity="areas/design", related_entities=["projects/site"])
    move_entity(vault, "projects/site", "archives/site", caller)
    assert around(neighbors(vault, "archives/site", caller, ALL, 1, 50)) == {("related", fact, False, 1)}
    assert ("related", "archives/site", True, 1) in around(neighbors(vault, fact, caller, ALL, 1, 50))


def test_what_nobody_knows_is_said(vault: Vault, caller: Caller) -> None:
    for name in ("nobody", "fact_00000000", "projects/nothing"):
        with pytest.raises(NotFound):
            neighbors(vault, name, caller, ALL, 1, 50)


def test_ways_are_as_short_as_a_plain_search_finds(vault: Vault, caller: Caller) -> None:
    chance = random.Random(7)
    facts = [keep(vault, caller, f"statement {n}", entity=f"projects/p{n}") for n in range(12)]
    joined: dict[str, set[str]] = {fact: set() for fact in facts}
    for _ in range(14):
        a, b = chance.sample(facts, 2)
        link(vault, a, "relates_to", b, caller)
        joined[a].add(b)
        joined[b].add(a)
    for goal in facts[1:]:
        expected = distance(joined, facts[0], goal)
        if expected is None or expected > 6:
            with pytest.raises(NotFound):
                shortest_path(vault, facts[0], goal, caller, ALL, 6)
        else:
            assert len(shortest_path(vault, facts[0], goal, caller, ALL, 6).steps) == expected


def distance(joined: dict[str, set[str]], start: str, goal: str) -> int | None:
    """How many links apart two facts are."""
    far, level = 0, {start}
    seen = set(level)
    while level:
        if goal in level:
            return far
        far, level = far + 1, {other for text in level for other in joined[text]} - seen
        seen |= level
    return None
