"""Permissions by the real commands: an agent is stopped where it may not write, a person never, and reads always go."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Command, Result

pytestmark = pytest.mark.usefixtures("without_vectors")


def refused(result: Result, words: str) -> None:
    document = result.json
    assert result.code == 1, document
    assert document["error"]["code"] == "not_permitted"
    assert words in document["error"]["message"]
    assert "may write" in document["error"]["hint"]


def head(vault: Path) -> str:
    return (vault / ".git/refs/heads/main").read_text()


@pytest.fixture
def theirs(clawmem: Command) -> str:
    """A fact in the workspace of the agent legal."""
    result = clawmem("remember", "The case opens in May.", "-e", "@legal/projects/case", "--agent", "legal", "--json")
    return str(result.data["facts"][0]["id"])


def test_an_agent_cannot_write_anothers_workspace(clawmem: Command, vault_root: Path, theirs: str) -> None:
    before = head(vault_root)
    by = ("--agent", "finance", "--json")
    refused(clawmem("remember", "It was me.", "-e", "@legal/projects/case", *by), "@legal/projects/case")
    refused(clawmem("supersede", theirs, "The case opens in June.", *by), "@legal/projects/case")
    refused(clawmem("retract", theirs, *by), "@legal/projects/case")
    assert clawmem("undo", theirs, *by).code == 1
    refused(clawmem("entity", "create", "@legal/projects/new", *by), "@legal/projects/new")
    refused(clawmem("agent", "create", "legal2", *by), "agents/legal2")
    refused(clawmem("config", "set", "agents.finance.write", "all", *by), "the settings")
    assert head(vault_root) == before
    assert "May" in clawmem("show", theirs).out


def test_an_agent_behind_the_verb_has_the_rights_of_an_agent(clawmem: Command, vault_root: Path, theirs: str) -> None:
    clawmem("config", "set", "agents.legal.verbs", "recall, remember")
    before = head(vault_root)
    for words in (("--agent", "legal", "retract", theirs), ("retract", theirs, "--agent", "legal")):
        result = clawmem(*words, "--json")
        assert (result.code, result.json["error"]["code"]) == (1, "not_permitted")
    assert clawmem("retract", theirs, "--agent", "user").code == 2
    assert head(vault_root) == before


def test_it_writes_its_own_and_the_shared_places_and_a_person_writes_all(clawmem: Command, theirs: str) -> None:
    assert clawmem("remember", "Rent is due.", "-e", "@/projects/budget", "--agent", "finance").code == 0
    assert clawmem("remember", "Jane likes tea.", "-e", "areas/people/jane", "--agent", "finance").code == 0
    assert clawmem("note", "met Ada", "--agent", "finance").code == 0
    assert clawmem("supersede", theirs, "The case opens in June.").code == 0
    (now,) = clawmem("list", "-e", "@legal/projects/case", "--agent", "legal", "--json").data["facts"]
    assert clawmem("retract", now["id"]).code == 0


def test_a_reader_reads_everything_and_changes_nothing(clawmem: Command, vault_root: Path) -> None:
    clawmem("remember", "Jane likes tea.", "-e", "areas/people/jane")
    assert clawmem("config", "set", "agents.auditor.read_only", "true").code == 0
    before = head(vault_root)
    by = ("--agent", "auditor", "--json")
    for question in (("recall", "tea"), ("context",), ("list",), ("log",), ("status",), ("doctor",)):
        assert clawmem(*question, *by).code == 0, question
    limit = ("config", "set", "defaults.limit", "5")
    for change in (("remember", "Jane likes milk."), ("note", "hello"), ("ingest", "-"), limit):
        result = clawmem(*change, *by, given='{"role": "user", "content": "I like tea."}\n')
        refused(result, "auditor")
    beat = clawmem("heartbeat", *by)
    assert beat.code == 1 and beat.json["error"]["code"] == "not_permitted"
    assert head(vault_root) == before


def test_places_narrow_an_agent_and_widen_it(clawmem: Command) -> None:
    clawmem("config", "set", "agents.finance.write", "own, projects/budget, @legal")
    by = ("--agent", "finance", "--json")
    refused(clawmem("remember", "Jane likes tea.", "-e", "areas/people/jane", *by), "areas/people/jane")
    refused(clawmem("ingest", "-", *by, given='{"role": "user", "content": "I like tea."}\n'), "ledger/")
    assert clawmem("remember", "The budget is tight.", "-e", "projects/budget", *by).code == 0
    assert clawmem("remember", "Theirs now.", "-e", "@legal/projects/case", *by).code == 0
    shown = clawmem("config", "get", "agents.finance.write")
    assert shown.out == "own, projects/budget, @legal\n"
    assert "agents.finance.write" in clawmem("config", "list").out


def test_what_no_one_understands_is_an_error(clawmem: Command, vault_root: Path) -> None:
    assert clawmem("config", "set", "agents.finance.wrote", "own").code == 1
    assert clawmem("config", "set", "agents.finance.write", "everywhere").code == 2
    settings = vault_root / "clawmem.yaml"
    settings.write_text(settings.read_text() + "agents:\n  finance:\n    readonly: true\n")
    result = clawmem("remember", "Jane likes tea.", "--agent", "finance", "--json")
    assert result.code == 2 and "agents.finance.readonly" in result.json["error"]["message"]


def test_the_hint_names_the_setting_that_decides(clawmem: Command) -> None:
    clawmem("config", "set", "agents.finance.read_only", "true")
    clawmem("config", "set", "agents.legal.write", "own")
    for agent, key in (("finance", "read_only"), ("legal", "write")):
        result = clawmem("remember", "Jane swims.", "--agent", agent, "--json")
        assert f"config get agents.{agent}.{key}`" in result.json["error"]["hint"]
