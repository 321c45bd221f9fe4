"""The pages of guardrails on disk: after merges, edits by hand, undo and revoke, and what an agent may not write."""

from __future__ import annotations

import json
from pathlib import Path

from clawmem.heartbeat.steps import refresh_guardrails
from clawmem.memory.facts.remember import remember
from clawmem.memory.facts.revise import retract
from clawmem.memory.history.undo import undo
from clawmem.memory.pages.guardrails import GLOBAL
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.records.caller import Caller
from clawmem.vault.vault import Vault
from clawmem.work.session_end_records import add_guardrail
from tests.conftest import NOW
from tests.memory.machines import Machine, make_machines

ITEMS = "life/areas/general/items.json"


def add(vault: Vault, caller: Caller, rule: str) -> str:
    guardrail = add_guardrail(vault, caller, rule, "It broke.")
    assert guardrail.guardrail is not None and guardrail.commit is not None
    return guardrail.guardrail.fact.id


def rules(vault: Vault) -> set[str]:
    """The rules on the global page."""
    lines = (vault.root / GLOBAL).read_text().splitlines()
    return {line.partition(" (")[0].removeprefix("- ") for line in lines if line.startswith("- ")}


def test_two_machines_that_both_changed_the_page(tmp_path: Path, environment: dict[str, str]) -> None:
    other_machine, other = make_machines(tmp_path, environment)
    first = add(other_machine.vault, other_machine.caller, "Ask first.")
    other_machine.sync()
    other.sync()
    add(other_machine.vault, other_machine.caller, "Never push to main.")
    retract(other.vault, first, other.caller)
    add(other.vault, other.caller, "Lock the door.")

    def exchange(machine: Machine) -> set[str]:
        machine.sync()
        return rules(machine.vault)

    for machine in (other_machine, other, other_machine):
        found = exchange(machine)
    assert found == rules(other.vault) == {"Never push to main.", "Lock the door."}
    assert not refresh_guardrails(other_machine.vault, other_machine.caller).changed


def test_an_edit_of_the_facts_by_hand_is_followed_by_the_heartbeat_step(vault: Vault, caller: Caller) -> None:
    add(vault, caller, "Ask first.")
    path = vault.root / ITEMS
    path.write_text(path.read_text().replace("Ask first.", "Ask twice."))
    result = refresh_guardrails(Vault(vault.root, vault.git.environment), caller)
    assert result.commit is not None and rules(vault) == {"Ask twice."}
    assert "\nClawmem-Op: curate\n" in vault.git.run("log", "-1", "--format=%B", result.commit).decode()
    assert not refresh_guardrails(vault, caller).changed


def test_undo_takes_the_page_back_in_the_same_commit(vault: Vault, caller: Caller) -> None:
    add(vault, caller, "Ask first.")
    undo(vault, "HEAD", caller)
    assert not (vault.root / GLOBAL).exists() or rules(vault) == set()
    add(vault, caller, "Lock the door.")
    add(vault, caller, "Never push to main.")
    undo(vault, "HEAD", caller)
    assert rules(vault) == {"Lock the door."}
    assert not vault.git.run("status", "--porcelain")


def test_a_batch_has_the_page_of_each_commit(vault: Vault, caller: Caller) -> None:
    drafts = [
        draft_from_record({"fact": rule, "category": "guardrail", "entity": "areas/general"}, NOW)
        for rule in ("Ask first.", "Lock the door.")
    ]
    remember(vault, drafts, caller)
    before = vault.git.run("show", f"HEAD~1:{GLOBAL}").decode()
    assert "Ask first." in before and "Lock the door." not in before
    assert rules(vault) == {"Ask first.", "Lock the door."}


def test_a_page_with_marks_of_a_conflict_is_left_alone_and_named(vault: Vault, caller: Caller) -> None:
    add(vault, caller, "Ask first.")
    page = vault.root / GLOBAL
    text = "<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs\n"
    page.write_text(text)
    add(vault, caller, "Lock the door.")
    assert page.read_text() == text
    result = refresh_guardrails(vault, caller)
    assert result.changed == () and GLOBAL in result.problems[0].message


def test_guardrails_in_the_workspace_of_an_agent_and_with_odd_names(vault: Vault, caller: Caller) -> None:
    agent = caller._replace(agent="coder")
    remember(vault, [draft_from_record({"fact": "The sea is green.", "entity": "@coder/areas/sea"}, NOW)], agent)
    path = vault.root / "agents/coder/workspace/areas/sea/items.json"
    facts = json.loads(path.read_text())
    facts[0] |= {"category": "guardrail", "details": {"agents": ["../evil", 3, "coder"], "why": ["x"]}}
    path.write_text("[\n" + json.dumps(facts[0]) + "\n]\n")
    assert refresh_guardrails(vault, caller).changed == ("agents/coder/GUARDRAILS.md",)
    assert not (vault.root / "evil").exists()
