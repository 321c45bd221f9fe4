"""Which facts are asked for, and which never."""

from __future__ import annotations

from clawmem.memory.facts.access import fold_accesses
from clawmem.memory.facts.remember import remember
from clawmem.memory.facts.revise import retract
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.records.caller import Caller
from clawmem.serving.analytics import analytics
from clawmem.vault.state.journal import record_access, unfolded_accesses
from clawmem.vault.vault import Vault
from tests.conftest import Command

USED = "2026-11-21T10:00:00Z"


def test_what_is_asked_for_and_what_never(vault: Vault, caller: Caller) -> None:
    items = [("The bicycle is green", "bike"), ("The car is red", "car"), ("The boat is old", "car")]
    drafts = [draft_from_record({"fact": fact, "entity": f"resources/{name}"}, caller.now) for fact, name in items]
    bike, car, boat = (remembered_fact.fact.id for remembered_fact in remember(vault, drafts, caller).facts)
    agent = caller._replace(agent="finance")
    remember(vault, [draft_from_record({"fact": "A budget", "entity": "@finance/projects/budget"}, caller.now)], agent)
    retract(vault, boat, caller)
    for fact_id in (car, bike, bike):
        assert record_access(vault, USED, [fact_id]) is None
    fold_accesses(vault, caller)
    assert record_access(vault, USED, [bike]) is None
    before = unfolded_accesses(vault)
    result = analytics(vault, caller, 10)
    assert unfolded_accesses(vault) == before
    assert (result.facts, result.asked_for, result.accesses) == (2, 2, 4)
    assert [(placed.fact.id, placed.fact.access_count) for placed in result.most] == [(bike, 3), (car, 1)]
    assert result.never == ()
    assert [
        (entity_use.entity, entity_use.facts, entity_use.asked_for, entity_use.accesses)
        for entity_use in result.entities
    ] == [
        ("resources/bike", 1, 1, 3),
        ("resources/car", 1, 1, 1),
    ]
    assert [placed.fact.fact for placed in analytics(vault, agent, 10).never] == ["A budget"]


def test_the_verb(clawmem: Command) -> None:
    assert clawmem("analytics").out == "0 active facts: 0 asked for, 0 accesses\n"
    assert clawmem("remember", "Jane lives in Bergen.").code == 0
    shown = clawmem("analytics", "--json").data
    assert shown["total"] == {"facts": 1, "asked_for": 0, "accesses": 0}
    assert [other["fact"] for other in shown["never"]] == ["Jane lives in Bergen."]
    assert "Never asked for" in clawmem("analytics").out
