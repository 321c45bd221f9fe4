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
    given = [("The bicycle is green", "bike"), ("The car is red", "car"), ("The boat is old", "car")]
    drafts = [draft_from_record({"fact": fact, "entity": f"resources/{name}"}, caller.now) for fact, name in given]
    bike, car, boat = (one.fact.id for one in remember(vault, drafts, caller).facts)
    agent = caller._replace(agent="finance")
    remember(vault, [draft_from_record({"fact": "A budget", "entity": "@finance/projects/budget"}, caller.now)], agent)
    retract(vault, boat, caller)
    for fact_id in (car, bike, bike):
        assert record_access(vault, USED, [fact_id]) is None
    fold_accesses(vault, caller)
    assert record_access(vault, USED, [bike]) is None
    before = unfolded_accesses(vault)
    done = analytics(vault, caller, 10)
    assert unfolded_accesses(vault) == before
    assert (done.facts, done.asked_for, done.accesses) == (2, 2, 4)
    assert [(one.fact.id, one.fact.access_count) for one in done.most] == [(bike, 3), (car, 1)]
    assert done.never == ()
    assert [(one.entity, one.facts, one.asked_for, one.accesses) for one in done.entities] == [
        ("resources/bike", 1, 1, 3),
        ("resources/car", 1, 1, 1),
    ]
    assert [one.fact.fact for one in analytics(vault, agent, 10).never] == ["A budget"]


def test_the_verb(clawmem: Command) -> None:
    assert clawmem("analytics").out == "0 active facts: 0 asked for, 0 accesses\n"
    assert clawmem("remember", "Jane lives in Bergen.").code == 0
    shown = clawmem("analytics", "--json").data
    assert shown["total"] == {"facts": 1, "asked_for": 0, "accesses": 0}
    assert [one["fact"] for one in shown["never"]] == ["Jane lives in Bergen."]
    assert "Never asked for" in clawmem("analytics").out
