"""The graph: neighbours and ways over links, relations, subjects and places."""

from __future__ import annotations

import pytest

from clawmem.errors import NotFound
from clawmem.index.search.channels import FactFilter
from clawmem.memory.entities.entities import create_entity, move_entity
from clawmem.memory.facts.remember import remember
from clawmem.memory.facts.revise import link, supersede
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.records.caller import Caller
from clawmem.serving.graph import GraphWalk, neighbors
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
