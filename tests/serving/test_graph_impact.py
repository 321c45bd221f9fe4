"""Impact: everything that rests on a fact, with pages, guardrails, decisions and proposals."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.impact import make_graph
from clawmem.errors import NotFound, NotPermitted
from clawmem.memory.facts.revise import link, merge, retract, supersede
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.records.caller import Caller
from clawmem.serving.graph import impact
from clawmem.vault.vault import Vault
from tests.conftest import Command
from tests.memory.facts.test_premises import keep


def _relations(vault: Vault, reference: str, caller: Caller, depth: int | None = None) -> dict[str, tuple[str, int]]:
    found = impact(vault, reference, caller, depth)
    return {dependent.placed.fact.fact: (dependent.relation, dependent.depth) for dependent in found.dependents}


def test_everything_that_rests_on_a_fact_is_found_once(vault: Vault, caller: Caller) -> None:
    premise = keep(vault, caller, "The parser is slow.")
    first = keep(vault, caller, "We cache.", premise, category="decision")
    second = keep(vault, caller, "The cache needs a lock.", first, premise)
    third = keep(vault, caller, "Locks are tested.", second)
    link(vault, first.id, "depends_on", third.id, caller)
    link(vault, premise.id, "depends_on", third.id, caller)
    rule = keep(vault, caller, "Never parse twice.", category="guardrail", details={"evidence": [premise.id]})
    keep(vault, caller, "The logo is blue.")
    assert _relations(vault, premise.id, caller) == {
        "We cache.": ("depends_on", 1),
        "The cache needs a lock.": ("depends_on", 1),
        "Never parse twice.": ("details", 1),
        "Locks are tested.": ("depends_on", 2),
    }
    assert set(_relations(vault, premise.id, caller, depth=1)) == {
        "We cache.",
        "The cache needs a lock.",
        "Never parse twice.",
    }
    assert impact(vault, premise.id, caller).categories == {"fact": 2, "decision": 1, "guardrail": 1}
    retract(vault, rule.id, caller)
    assert "Never parse twice." not in _relations(vault, premise.id, caller)
    page = vault.root / "wiki" / "parser.md"
    page.parent.mkdir(exist_ok=True)
    page.write_text(f"# Parser\n\n- We cache. ({first.id})\n")
    assert ("wiki/parser.md", (first.id,)) in impact(vault, premise.id, caller).pages


def test_what_rested_on_a_replaced_fact_rests_on_its_successor(vault: Vault, caller: Caller) -> None:
    fact, other = keep(vault, caller, "Jane likes tea."), keep(vault, caller, "Jane likes green tea.")
    keep(vault, caller, "We buy tea.", fact)
    whole = merge(vault, [fact.id, other.id], draft_from_record({"fact": "Jane likes tea, green."}, caller.now), caller)
    assert set(_relations(vault, whole.facts[0].fact.id, caller)) == {"We buy tea."}
    new = supersede(vault, whole.facts[0].fact.id, draft_from_record({"fact": "Jane drinks milk."}, caller.now), caller)
    assert set(_relations(vault, new.facts[0].fact.id, caller)) == {"We buy tea."}


def test_facts_of_other_agents_are_counted_and_not_shown(vault: Vault, caller: Caller) -> None:
    premise = keep(vault, caller, "The parser is slow.")
    own = keep(vault, caller, "Scout avoids the parser.", premise, entity="@scout/projects/plan")
    agent = caller._replace(agent="writer")
    found = impact(vault, premise.id, agent)
    assert (found.dependents, found.hidden) == ((), 1)
    assert len(impact(vault, premise.id, caller).dependents) == 1
    with pytest.raises(NotPermitted):
        impact(vault, own.id, agent)
    with pytest.raises(NotFound):
        impact(vault, "fact_0000ffff", caller)


def test_a_large_graph_with_circles_is_shown_whole(tmp_path: Path, environment: dict[str, str], caller: Caller) -> None:
    root = make_graph(tmp_path / "graph", environment, 2_000)
    found = impact(Vault(root, environment), "fact_00000000", caller)
    assert len({dependent.placed.fact.id for dependent in found.dependents}) == len(found.dependents) > 1_800


def test_the_command_shows_a_tree_and_stable_json(clawmem: Command, vault: Vault, caller: Caller) -> None:
    premise = keep(vault, caller, "The parser is slow.")
    first = keep(vault, caller, "We cache.", premise, category="decision")
    second = keep(vault, caller, "The cache needs a lock.", first)
    result = clawmem("impact", premise.id)
    assert [line.split("  (")[0] for line in result.out.splitlines()] == [
        f"{premise.id}  The parser is slow.",
        f"  <-depends_on- decision, {first.id}  We cache.",
        f"    <-depends_on- {second.id}  The cache needs a lock.",
        "2 facts rest on it (1 decision, 1 fact)",
    ]
    keep(vault, caller, "The lock is a file.", second)
    assert clawmem("impact", premise.id).out.splitlines()[-1] == "3 facts rest on it (2 facts, 1 decision)"
    clawmem("undo", "HEAD")
    data = clawmem("impact", premise.id, "--json").data
    assert [(dependent["id"], dependent["premise"], dependent["depth"]) for dependent in data["dependents"]] == [
        (first.id, premise.id, 1),
        (second.id, first.id, 2),
    ]
    assert clawmem("impact", "fact_nope").code == 1
    assert clawmem("impact", premise.id, "--depth", "0").code == 2
