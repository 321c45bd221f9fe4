"""Further passes of recall: through names in the best facts, and through links."""

from __future__ import annotations

from clawmem.index.search.channels import FactFilter
from clawmem.memory.facts.remember import remember
from clawmem.memory.facts.revise import link
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.records.caller import Caller
from clawmem.serving.recall.recall import recall
from clawmem.serving.recall.result import FACTS
from clawmem.vault.vault import Vault


def keep(vault: Vault, caller: Caller, text: str, **more: object) -> str:
    """A new fact's id."""
    return remember(vault, [draft_from_record({"fact": text, **more}, caller.now)], caller).facts[0].fact.id


def found(vault: Vault, caller: Caller, question: str, passes: int, limit: int = 5) -> list[str]:
    """The ids found."""
    result = recall(vault, question, caller, FactFilter(), limit, (FACTS,), passes)
    return [hit.fact.id for hit in result.found]


def test_a_second_pass_asks_the_question_of_whom_the_first_one_found(vault: Vault, caller: Caller) -> None:
    boss = keep(vault, caller, "Mira is managed by Tomas", subject="Mira", predicate="manager", object="Tomas")
    home = keep(vault, caller, "Tomas has a flat in Porto", subject="Tomas", predicate="lives_in", object="Porto")
    question = "Where does Mira's manager live?"
    assert home not in found(vault, caller, question, 1)
    again = recall(vault, question, caller, FactFilter(), 5, (FACTS,), 2)
    assert [hit.fact.id for hit in again.found[:2]] == [boss, home]
    assert "links" in again.found[1].channels
    assert again.channels["links"].hits >= 1


def test_a_second_pass_follows_links_and_keeps_the_limit(vault: Vault, caller: Caller) -> None:
    root = keep(vault, caller, "The boiler was replaced")
    reason = keep(vault, caller, "Pipes had frozen solid")
    others = [keep(vault, caller, f"unrelated thing {n}") for n in range(5)]
    link(vault, root, "depends_on", reason, caller)
    assert found(vault, caller, "boiler", 1) == [root]
    assert found(vault, caller, "boiler", 2) == [root, reason]
    assert found(vault, caller, "boiler", 3, limit=1) == [root]
    assert not set(others) & set(found(vault, caller, "boiler", 5))


def test_replaced_facts_stay_out_of_further_passes(vault: Vault, caller: Caller) -> None:
    from clawmem.memory.facts.revise import supersede

    old = keep(vault, caller, "Pipes had frozen solid")
    root = keep(vault, caller, "The boiler was replaced")
    link(vault, root, "depends_on", old, caller)
    supersede(vault, old, draft_from_record({"fact": "A valve was stuck"}, caller.now), caller)
    assert old not in found(vault, caller, "boiler", 2)


def test_a_third_pass_keeps_what_the_second_one_found(vault: Vault, caller: Caller) -> None:
    root = keep(vault, caller, "Invoices are written by Kestrel")
    host = keep(vault, caller, "A small machine in the cellar is its host")
    power = keep(vault, caller, "That room loses power on Sundays")
    link(vault, root, "depends_on", host, caller)
    link(vault, host, "depends_on", power, caller)
    assert found(vault, caller, "invoices", 2) == [root, host]
    assert set(found(vault, caller, "invoices", 3)) == {root, host, power}
    assert set(found(vault, caller, "invoices", 5)) == {root, host, power}
