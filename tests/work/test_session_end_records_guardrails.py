"""Guardrails: the whole loop with real commands, who may change them, and their pages."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from clawmem.errors import NotFound
from clawmem.memory.facts.remember import remember
from clawmem.memory.facts.revise import retract, supersede
from clawmem.model.facts.draft import Draft, draft_from_record
from clawmem.model.records.caller import Caller
from clawmem.review.review import approve, list_proposals
from clawmem.vault.vault import Vault
from clawmem.work.session_end_records import AddedGuardrail, add_guardrail, list_guardrails, show_guardrail
from clawmem.work.sessions.end import end_session
from clawmem.work.sessions.start import start_session
from tests.conftest import NOW, Command

GLOBAL = "governance/GUARDRAILS.md"
OWN = "agents/coder/GUARDRAILS.md"


def text(vault: Vault, path: str) -> str:
    return (vault.root / path).read_text()


def changed(vault: Vault) -> set[str]:
    """The files of the last commit."""
    return set(vault.git.run("show", "--name-only", "--format=", "HEAD").decode().split())


def added(vault: Vault, caller: Caller, rule: str = "Never push to main.", **more: Any) -> AddedGuardrail:
    return add_guardrail(vault, caller, rule, "A release was lost.", **more)


def clean(vault: Vault) -> bool:
    return not vault.git.run("status", "--porcelain")


def draft(words: str) -> Draft:
    return draft_from_record({"fact": words}, NOW)


def test_the_whole_loop(clawmem: Command, vault_root: Path) -> None:
    """Three failures, a proposal, an approval, a context that leads with it, and whether the failure came back."""

    def run(minute: int, *words: str, agent: str | None = None) -> Any:
        env: Mapping[str, str] = {"CLAWMEM_NOW": f"2026-11-21T10:{minute:02}:00Z", "CLAWMEM_SEED": str(minute)}
        result = clawmem(*words, "--json", *(("--agent", agent) if agent else ()), env=env)
        assert result.code == 0, result.err
        return result.data

    session = run(0, "session", "start", "--task", "upload", agent="coder")["session"]["id"]
    for minute in (1, 2, 3):
        note = f"Attempt {minute} failed the same way."
        failed = run(minute, "failure", "record", "loop", "--session", session, "--note", note)
    assert failed["actions"][0].startswith("Stop.")
    assert (failed["failure"]["agent"], failed["failure"]["task"]) == ("coder", "upload")
    (waiting,) = run(4, "review", "list")["proposals"]
    assert (waiting["id"], waiting["kind"]) == (failed["proposal"], "guardrail")
    assert clawmem("review", "approve", waiting["id"], "--agent", "coder").code == 1
    (fact,) = run(5, "review", "approve", waiting["id"])["facts"]
    assert f"- {fact['fact']} ({fact['id']}, since 2026-11-21, failure mode loop)" in (vault_root / OWN).read_text()

    (unserved,) = run(6, "guardrail", "list")["guardrails"]
    assert (unserved["served"], unserved["came_back"]) == (0, [])
    started = run(7, "session", "start", "--task", "download", agent="coder")
    lines = [line for line in started["context"]["text"].splitlines() if line.startswith(("## ", "- "))]
    assert lines[0] == "## Guardrails"
    assert lines[1].startswith(f"- {fact['fact']} (2026-11-21, agent, because The agent coder recorded the failure")
    assert "## Guardrails" not in run(8, "context", agent="writer")["context"]["text"]
    run(9, "context", "upload a file", agent="coder")
    (served,) = run(10, "guardrail", "list")["guardrails"]
    assert (served["served"], served["came_back"]) == (2, [])

    back = run(11, "failure", "record", "loop", "--note", "Again.", agent="coder")
    assert (back["times"], back["proposal"]) == (1, None)
    other = run(12, "guardrail", "show", fact["id"])["guardrail"]
    assert other["came_back"] == [back["failure"]["id"]]
    assert other["last_failure"] == "2026-11-21T10:11:00Z"
    assert len(other["evidence"]) == 3
    text = clawmem("guardrail", "list").out
    assert "for coder, since 2026-11-21, served 2 times, loop came back 1 time" in text
    assert clawmem("doctor").code == 0


def test_a_person_s_guardrail_holds_at_once_and_is_compiled_in_its_commit(vault: Vault, caller: Caller) -> None:
    guardrail = added(vault, caller, failure_mode="collision", evidence=["fail_1"])
    assert guardrail.outcome == "added" and guardrail.guardrail is not None
    assert {GLOBAL, "life/areas/general/items.json"} <= changed(vault)
    assert f"- Never push to main. ({guardrail.guardrail.fact.id}, since 2026-11-21, failure mode collision)" in text(
        vault, GLOBAL
    )
    assert added(vault, caller, failure_mode="collision").outcome == "noop"
    assert clean(vault)


def test_an_agent_s_guardrail_waits_for_a_person(vault: Vault, caller: Caller) -> None:
    guardrail = added(vault, caller._replace(agent="coder"), agents=["coder"])
    assert (guardrail.guardrail, guardrail.outcome) == (None, "proposed")
    assert not (vault.root / OWN).exists()
    approve(vault, list_proposals(vault).proposals[0].id, caller)
    assert {OWN, "life/areas/general/items.json"} <= changed(vault)
    assert not (vault.root / GLOBAL).exists()


def test_a_rejected_rule_is_not_proposed_again_and_says_so(clawmem: Command) -> None:
    words = ("guardrail", "add", "Never push to main.", "--why", "x", "--agent", "coder")
    proposal = clawmem(*words, "--for", "ann", "--evidence", "fail_1", "--json").data["proposal"]
    shown = clawmem("review", "show", proposal).out
    assert "binds     ann\n" in shown and "evidence  fail_1\n" in shown
    clawmem("review", "reject", proposal, "--reason", "It is too broad.")
    again = clawmem(*words)
    assert again.out.startswith("not filed, because it was rejected before by Ada Person")
    assert "(It is too broad.)" in again.out
    assert clawmem("review", "list", "--json").data["proposals"] == []


def test_retracting_and_superseding_change_the_page_in_the_same_commit(vault: Vault, caller: Caller) -> None:
    guardrail, two = added(vault, caller), added(vault, caller, "Ask before a force push.", agents=["coder"])
    assert guardrail.guardrail is not None and two.guardrail is not None
    supersede(vault, guardrail.guardrail.fact.id, draft("Never push to main or to a release."), caller)
    assert GLOBAL in changed(vault)
    assert "- Never push to main or to a release. (" in text(vault, GLOBAL)
    assert "- Never push to main. (" not in text(vault, GLOBAL)
    retract(vault, two.guardrail.fact.id, caller)
    assert OWN in changed(vault)
    assert "There are no guardrails." in text(vault, OWN)


def test_what_people_write_on_a_page_stays(vault: Vault, caller: Caller) -> None:
    added(vault, caller)
    path = vault.root / GLOBAL
    path.write_text(
        "# Our rules\n\nRead them.\n\n" + path.read_text().removeprefix("# Guardrails\n\n") + "\nThat is all.\n"
    )
    added(vault, caller, "Ask before a force push.")
    page = path.read_text()
    assert page.startswith("# Our rules\n\nRead them.\n") and page.endswith("\nThat is all.\n")
    assert page.count("\n- ") == 2
    assert clean(vault)


@pytest.mark.parametrize("verb", ["retract", "merge", "remember", "undo", "revoke"])
def test_an_agent_cannot_change_or_withdraw_a_guardrail(
    vault: Vault, caller: Caller, clawmem: Command, verb: str
) -> None:
    other = remember(vault, [draft("The sky is blue.")], caller).facts[0].fact.id
    guardrail = added(vault, caller, agents=["coder"])
    assert guardrail.guardrail is not None
    name = guardrail.guardrail.fact.id
    words = {
        "retract": ["retract", name],
        "merge": ["merge", other, name, "--into", "Always push."],
        "remember": ["remember", "Never push to main.", "--entity", "areas/general", "--tag", "old"],
        "undo": ["undo", str(guardrail.commit)],
        "revoke": ["revoke", "--source", "user"],
    }[verb]
    refused = clawmem(*words, env={"CLAWMEM_AGENT": "coder"})
    assert refused.code == 1 and ("only a person may" in refused.err or "undoes only what it did" in refused.err), (
        refused
    )
    (use,) = list_guardrails(vault, caller).guardrails
    assert use.guardrail.fact == guardrail.guardrail.fact
    assert clean(vault)


def test_what_an_agent_supersedes_waits_and_its_reports_of_use_are_taken(vault: Vault, caller: Caller) -> None:
    guardrail = added(vault, caller)
    assert guardrail.guardrail is not None
    agent, name = caller._replace(agent="coder"), guardrail.guardrail.fact.id
    assert supersede(vault, name, draft("Never push to main or to a release."), agent).outcome == ("proposed",)
    started = start_session(vault, agent)
    document = {"summary": "Done.", "reflection": {"learned": [], "watch_for": []}, "outcomes": {name: "useful"}}
    end_session(vault, agent, document, started.record.id)
    (use,) = list_guardrails(vault, caller).guardrails
    assert use.guardrail.fact.metadata == {"outcomes": {"useful": 1}}


def test_list_and_show(vault: Vault, caller: Caller) -> None:
    placed = added(vault, caller, agents=["coder"]).guardrail
    two = added(vault, caller, "Ask before a force push.").guardrail
    assert placed is not None and two is not None
    seen = [
        {use.guardrail.fact.id for use in list_guardrails(vault, caller._replace(agent=agent)).guardrails}
        for agent in (None, "coder", "writer")
    ]
    assert seen == [{placed.fact.id, two.fact.id}, {placed.fact.id, two.fact.id}, {two.fact.id}]
    retract(vault, placed.fact.id, caller)
    assert show_guardrail(vault, caller, placed.fact.id).guardrails[0].guardrail.fact.status == "retracted"
    other = remember(vault, [draft("The sky is blue.")], caller).facts[0].fact.id
    with pytest.raises(NotFound, match="is no guardrail"):
        show_guardrail(vault, caller, other)
    with pytest.raises(NotFound, match="no failure mode 'sleep'"):
        added(vault, caller, "Sleep.", failure_mode="sleep")


def test_the_end_of_a_session_names_agents_and_evidence(clawmem: Command) -> None:
    document = {
        "summary": "Done.",
        "reflection": {"learned": [], "watch_for": []},
        "guardrails": [{"rule": "Ask first.", "why": "A loss.", "agents": ["coder"], "evidence": ["fail_1"]}],
    }
    clawmem("session", "start", "--agent", "coder")
    result = clawmem("session", "end", "--from", "-", "--agent", "coder", given=json.dumps(document))
    assert result.code == 0, result.err
    (waiting,) = clawmem("review", "list", "--json").data["proposals"]
    assert waiting["fact"]["details"]["agents"] == ["coder"]
    assert waiting["fact"]["details"]["evidence"] == ["fail_1"]


def test_a_guardrail_of_one_agent_is_not_told_to_another(clawmem: Command) -> None:
    rule = "Ask before deleting the zebra."
    assert clawmem("guardrail", "add", rule, "--why", "It was lost.", "--for", "ann").code == 0
    assert "zebra" in clawmem("context", "--agent", "ann").out
    assert "zebra" in clawmem("context").out
    assert "zebra" not in clawmem("context", "--agent", "bob").out
    assert "zebra" not in clawmem("session", "start", "--agent", "bob").out
