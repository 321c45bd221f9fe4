"""What an agent may do: its verbs, its scopes, its entities, and what its models may cost in a day."""

from __future__ import annotations

from pathlib import Path

import pytest

from clawmem.errors import NotPermitted
from clawmem.faces.mcp.tools import call_tool
from clawmem.llm.choice import Model
from clawmem.memory.permission import check_verb
from clawmem.runtime import Runtime
from clawmem.vault.state.spending import AgentPurse, spent_on
from clawmem.vault.vault import Vault
from tests.conftest import Command


def test_an_agent_uses_only_the_verbs_that_the_settings_name(clawmem: Command) -> None:
    assert clawmem("config", "set", "agents.scout.verbs", "recall,  task list").code == 0
    assert clawmem("recall", "boats", "--agent", "scout").code == 0
    assert clawmem("task", "list", "--agent", "scout").code == 0
    for words in (["remember", "Boats float."], ["task", "add", "Paint"], ["task", "add", "--help=", "x"][:2]):
        result = clawmem(*words, "--agent", "scout")
        assert (result.code, "may not use" in result.err, "clawmem config set agents.scout.verbs" in result.err) == (
            1,
            1,
            1,
        )
    assert clawmem("remember", "Boats float.", "--agent", "other").code == 0
    assert clawmem("remember", "Boats sink.").code == 0


def test_an_unclear_command_line_is_checked_too(clawmem: Command) -> None:
    clawmem("config", "set", "agents.scout.verbs", "recall")
    assert clawmem("remember", "--agent", "scout", "--", "Boats float.").code == 1
    assert clawmem("add", "Boats float.", env={"CLAWMEM_AGENT": "scout"}).code == 1


def test_an_agent_writes_only_in_its_scopes(clawmem: Command) -> None:
    assert clawmem("config", "set", "agents.scout.scopes", "project, world").code == 2
    assert clawmem("config", "set", "agents.scout.scopes", "project").code == 0
    by = ("--agent", "scout")
    result = clawmem("remember", "Boats float.", *by)
    assert (result.code, "the scope organisation" in result.err) == (1, True)
    assert clawmem("lesson", "add", "Check the tide.", "--project", "boat", *by).code == 0
    assert clawmem("lesson", "add", "Check the tide.", "--workflow", "software", "--scope", "team", *by).code == 1
    known = clawmem("remember", "Rain is wet.", "--json").data["facts"][0]["id"]
    assert clawmem("retract", known, *by).code == 1
    assert clawmem("supersede", known, "Rain is cold.", *by).code == 1


def test_what_an_agent_spends_is_counted_for_it_alone(vault: Vault) -> None:
    purse = AgentPurse(vault, "scout", "2026-11-21", 3.0)
    assert purse.refusal(2.0) is None
    purse.pay(2.0)
    assert "has spent 2 today" in (purse.refusal(2.0) or "")
    assert purse._replace(day="2026-11-22").refusal(2.0) is None
    assert AgentPurse(vault, "other", "2026-11-21", 3.0).refusal(2.0) is None
    assert AgentPurse(vault, "other", "2026-11-21", 0.0).refusal(None) == (
        "The agent other may spend nothing on models (agents.other.cents)."
    )
    assert spent_on(vault, "2026-11-21") == 0.0


def test_the_model_of_an_agent_has_its_purse(vault: Vault, environment: dict[str, str], clawmem: Command) -> None:
    clawmem("config", "set", "--user", "llm.model", "openai/gpt-4o-mini")
    clawmem("config", "set", "agents.scout.cents", "0")

    def model(agent: str | None) -> Model | None:
        return Runtime(environment, Path(vault.root), str(vault.root), agent).model()

    scout, person = model("scout"), model(None)
    assert scout is not None
    assert person is not None
    assert person.purse is None
    assert scout.purse is not None
    assert scout.purse.refusal(0.001)


def test_a_group_is_all_of_its_verbs(vault: Vault, clawmem: Command) -> None:
    clawmem("config", "set", "agents.scout.verbs", "task")
    fresh = Vault(vault.root, vault.environment)
    check_verb(fresh, "scout", "task take")
    check_verb(fresh, "scout", "mcp serve")
    with pytest.raises(NotPermitted):
        check_verb(fresh, "scout", "tasks")


def test_a_tool_is_a_verb_too(vault: Vault, environment: dict[str, str], clawmem: Command) -> None:
    clawmem("config", "set", "agents.scout.verbs", "recall")
    runtime = Runtime(environment, Path(vault.root), str(vault.root), "scout")
    call_tool("recall", {"question": "boats"}, runtime)
    with pytest.raises(NotPermitted, match="may not use `remember`"):
        call_tool("remember", {"text": "Boats float."}, runtime)
