"""What every act that writes keeps to, whichever verb it is."""

from __future__ import annotations

import pytest

from clawmem.errors import NotPermitted
from clawmem.memory.facts.revise import retract
from clawmem.memory.scope import fact_change
from clawmem.memory.writing import writing
from clawmem.model.facts.fact import Fact
from clawmem.model.records.caller import Caller
from clawmem.vault.vault import Vault
from clawmem.work.session_end_records import list_guardrails
from tests.memory.facts.test_premises import keep
from tests.work.test_session_end_records_guardrails import added, clean

FACT = Fact("fact_00000001", "Jane sails.", "fact", "2026-11-21T09:00:00Z", "chat", source_event="ev_1")


def test_a_guardrail_changes_with_its_page_and_by_no_agent(vault: Vault, caller: Caller) -> None:
    guardrail = added(vault, caller).guardrail
    assert guardrail is not None
    with pytest.raises(NotPermitted):
        retract(vault, guardrail.fact.id, caller._replace(agent="scout"))
    assert retract(vault, guardrail.fact.id, caller).commit
    assert clean(vault) and list_guardrails(vault, caller).guardrails == ()


def test_a_commit_has_the_person_as_author_and_agents_have_their_own(vault: Vault, caller: Caller) -> None:
    for agent in (None, "scout"):
        keep(vault, caller._replace(agent=agent), f"The sea is calm for {agent}.")
        author = vault.git.run("log", "-1", "--format=%an").decode().strip()
        assert ("scout" in author) is (agent is not None), author
    keep(vault, caller._replace(unattended=True), "The sea is calm at night.")
    assert vault.git.run("log", "-1", "--format=%an").decode().strip() == "clawmem"


def test_a_change_names_its_facts_for_plain_git(vault: Vault, caller: Caller) -> None:
    change = fact_change(
        caller, "remember", "areas/x", "Jane sails.", {}, [FACT], entities=["areas/y"], supersedes=["z"]
    )
    assert {("Fact", "fact_00000001"), ("Event", "ev_1"), ("Entity", "areas/x"), ("Entity", "areas/y")} <= {
        *change.trailers
    }
    with writing(vault, caller, "test") as work:
        assert (work.text("no.md"), work.facts("areas/none"), work.read("no.md")) == ("", [], None)
