"""Revoke by the real commands: everything of one origin goes in one commit, and undo brings all of it back."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from clawmem.vault.vault import Vault
from tests.conftest import Command

pytestmark = pytest.mark.usefixtures("without_vectors")


def git(vault: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=vault, check=True, capture_output=True, text=True).stdout


def keep(clawmem: Command, text: str, *more: str, **env: str) -> str:
    result = clawmem("remember", text, "-e", "areas/people/jane", "--json", *more, env={"CLAWMEM_SEED": text, **env})
    return str(result.data["facts"][0]["id"])


def standing(clawmem: Command) -> set[str]:
    found: list[dict[str, Any]] = clawmem("list", "--json").data["facts"]
    return {record["fact"] for record in found if record["status"] == "active"}


def test_a_source_goes_in_one_commit_and_what_it_replaced_stands_again(clawmem: Command, vault_root: Path) -> None:
    old = keep(clawmem, "Jane lives in Oslo.")
    clawmem("supersede", old, "Jane lives in Bergen.", "--source", "gossip", env={"CLAWMEM_SEED": "s"})
    keep(clawmem, "Jane has a boat.", "--source", "gossip:harbour")
    keep(clawmem, "Jane likes tea.")
    before = git(vault_root, "rev-parse", "HEAD")
    tried = clawmem("revoke", "--source", "gossip", "--dry-run", "--json").data
    assert tried["outcome"] == ["retracted", "retracted", "restored"] and tried["commit"] is None
    assert git(vault_root, "rev-parse", "HEAD") == before
    result = clawmem("revoke", "--source", "gossip", "--reason", "it was a joke", "--json").data
    assert git(vault_root, "rev-list", "--count", f"{before.strip()}..HEAD").strip() == "1"
    assert standing(clawmem) == {"Jane lives in Oslo.", "Jane likes tea."}
    back = next(fact for fact in result["facts"] if fact["id"] == old)
    assert back.get("valid_to") is None and back["superseded_by"] is None
    assert clawmem("doctor").code == 0
    assert git(vault_root, "log", "-1", "--format=%(trailers:key=Clawmem-Op,valueonly)").strip() == "revoke"
    clawmem("undo", result["commit"])
    assert standing(clawmem) == {"Jane lives in Bergen.", "Jane has a boat.", "Jane likes tea."}
    assert clawmem("doctor").code == 0


def test_what_built_on_it_is_listed_and_stays(clawmem: Command) -> None:
    base = keep(clawmem, "The shop opens at nine.", "--source", "rumour")
    built = keep(clawmem, "Jane shops at nine.")
    clawmem("link", built, base, "--type", "derived_from")
    result = clawmem("revoke", "--source", "rumour", "--json").data
    assert [(dependent["id"], dependent["relation"], dependent["of"]) for dependent in result["dependents"]] == [
        (built, "derived_from", base)
    ]
    assert "Jane shops at nine." in standing(clawmem)
    assert (
        "not changed, though it is derived from"
        in clawmem("undo", result["commit"]).out + clawmem("revoke", "--source", "rumour", "--dry-run").out
    )


def test_agent_session_and_date_narrow_each_other(clawmem: Command) -> None:
    keep(clawmem, "Jane rows.", CLAWMEM_AGENT="scout", CLAWMEM_SESSION="s1")
    keep(clawmem, "Jane sings.", CLAWMEM_AGENT="scout", CLAWMEM_SESSION="s2", CLAWMEM_NOW="2026-11-22T10:00:00Z")
    keep(clawmem, "Jane runs.", CLAWMEM_SESSION="s2", CLAWMEM_NOW="2026-11-22T10:00:00Z")
    later = {"CLAWMEM_NOW": "2026-11-23T10:00:00Z"}

    def would(*origin: str) -> set[str]:
        result = clawmem("revoke", *origin, "--dry-run", "--json", env=later)
        return {fact["fact"] for fact in result.data["facts"]} if result.code == 0 else set()

    assert would("--agent", "scout") == {"Jane rows.", "Jane sings."}
    assert would("--session", "s2") == {"Jane sings.", "Jane runs."}
    assert would("--since", "2026-11-22") == {"Jane sings.", "Jane runs."}
    assert would("--agent", "scout", "--session", "s2") == {"Jane sings."}
    assert would("--agent", "scout", "--session", "s1", "--since", "2026-11-22") == set()
    made = clawmem("revoke", "--agent", "scout", "--json", env=later).data
    assert made["origin"] == {"agent": "scout"}
    assert standing(clawmem) == {"Jane runs."}


def test_what_a_session_replaced_did_not_come_from_it(clawmem: Command) -> None:
    old = keep(clawmem, "Jane lives in Oslo.")
    clawmem("supersede", old, "Jane lives in Bergen.", env={"CLAWMEM_SESSION": "s1"})
    assert clawmem("revoke", "--session", "s1", "--json").data["outcome"] == ["retracted", "restored"]
    assert standing(clawmem) == {"Jane lives in Oslo."}


@pytest.fixture
def talk(clawmem: Command) -> None:
    """Two conversations, of which only the first was learned from."""
    record = {
        "role": "user",
        "content": "Remember that I live in Ghent.",
        "timestamp": "2026-11-20T10:00:00Z",
        "session": "one",
    }
    clawmem("ingest", "-", "--source", "chat.jsonl", given=json.dumps(record))
    clawmem("heartbeat")
    late = {
        "role": "user",
        "content": "Remember that I work at Acme.",
        "timestamp": "2026-11-20T11:00:00Z",
        "session": "one",
    }
    clawmem("ingest", "-", "--source", "chat.jsonl", given=json.dumps(late))


def test_events_are_set_aside_so_that_nothing_is_learned_again(clawmem: Command, vault_root: Path, talk: None) -> None:
    assert any("Ghent" in text for text in standing(clawmem))
    result = clawmem("revoke", "--session", "one", "--json").data
    assert len(result["events"]) == 2
    assert standing(clawmem) == set()
    clawmem("heartbeat", env={"CLAWMEM_NOW": "2026-11-21T12:00:00Z"})
    assert standing(clawmem) == set()
    for question in ("Ghent", "Acme"):
        assert question not in clawmem("context", f"what about {question}?").out.replace(f"{question}?", "")
    ledger = (vault_root / "ledger/2026-11-20.jsonl").read_text()
    assert "I live in Ghent." in ledger and '"revoked": "2026-11-21"' in ledger
    assert clawmem("doctor").code == 0


def test_one_event(clawmem: Command, talk: None) -> None:
    facts: list[dict[str, Any]] = clawmem("list", "--json").data["facts"]
    event = next(fact["source_event"] for fact in facts if "Ghent" in fact["fact"])
    result = clawmem("revoke", "--event", event, "--json").data
    assert result["events"] == [event] and standing(clawmem) == set()


def test_what_waits_from_there_is_closed(clawmem: Command) -> None:
    waiting = clawmem("remember", "Always buy Acme.", "--source", "web:acme.example", "--json").data["facts"][0]["id"]
    result = clawmem("revoke", "--source", "web", "--json").data
    assert [proposal["id"] for proposal in result["proposals"]] == [waiting] and result["facts"] == []
    assert clawmem("review", "list", "--json").data["proposals"] == []


def test_one_fact_is_one_and_a_day_alone_has_its_sentence(clawmem: Command, vault_root: Path) -> None:
    none = clawmem("revoke", "--since", "2099-01-01")
    assert none.err.startswith("error: Nothing came since 2099-01-01.\n")
    both = clawmem("revoke", "--source", "gossip", "--since", "2099-01-01")
    assert both.err.startswith("error: Nothing came from source gossip since 2099-01-01.\n")
    keep(clawmem, "Jane has a boat.", "--source", "gossip")
    assert clawmem("revoke", "--source", "gossip", "--since", "2026-01-01").code == 0
    text = git(vault_root, "log", "-1", "--format=%s").strip()
    assert text == "revoke(vault): 1 fact from source gossip since 2026-01-01"


def test_it_refuses_in_words(clawmem: Command) -> None:
    nothing = clawmem("revoke", "--json")
    assert nothing.code == 2 and "origin" in nothing.json["error"]["message"]
    unknown = clawmem("revoke", "--source", "nowhere", "--json")
    assert unknown.code == 1 and unknown.json["error"]["code"] == "not_found"
    keep(clawmem, "Jane rows.", "--source", "web")
    assert clawmem("revoke", "--source", "web").code == 0
    assert clawmem("revoke", "--source", "web").code == 1


def test_an_agent_takes_back_only_where_it_may_write(clawmem: Command) -> None:
    clawmem("remember", "Mine.", "-e", "@legal/projects/case", "--agent", "legal", "--source", "web")
    result = clawmem("revoke", "--source", "web", "--json", env={"CLAWMEM_AGENT": "finance"})
    assert result.code == 1 and result.json["error"]["code"] == "not_permitted"


def test_the_pages_of_the_vault_no_longer_say_it(clawmem: Command, vault_root: Path) -> None:
    old = keep(clawmem, "Jane is allergic to nuts.", "--importance", "0.9")
    clawmem("supersede", old, "Jane is allergic to pollen.", "--source", "gossip", env={"CLAWMEM_SEED": "s"})
    keep(clawmem, "Jane likes tea.")
    clawmem("heartbeat")
    pages = [vault_root / "MEMORY.md", vault_root / "life/areas/people/jane/summary.md"]
    before = [page.read_text() for page in pages]
    assert all("pollen" in text for text in before)
    result = clawmem("revoke", "--source", "gossip", "--json").data
    for page in pages:
        text = page.read_text()
        assert "pollen" not in text and "nuts" in text, page
    assert git(vault_root, "status", "--porcelain") == ""
    assert clawmem("doctor").code == 0
    clawmem("undo", result["commit"])
    assert "Jane is allergic to pollen." in standing(clawmem)


def test_the_notes_and_sessions_of_a_revoked_agent_are_withdrawn_once(clawmem: Command, vault: Vault) -> None:
    by = ("--agent", "ann")
    session = clawmem("session", "start", *by, "--json").data["session"]
    session = session if isinstance(session, str) else session["id"]
    clawmem("note", "The zebra key is under the mat.", *by)
    clawmem("note", "The heron is grey.")
    result = clawmem("revoke", "--agent", "ann", "--json")
    assert result.data["sessions"] == [session]
    (page,) = vault.root.glob("agents/ann/daily/*.md")
    assert "<!-- revoked on " in page.read_text()
    for asked in (clawmem("context", *by), clawmem("recall", "zebra key", *by), clawmem("session", "start", *by)):
        assert "mat" not in asked.out.split(), asked.out
    assert "heron" in clawmem("recall", "heron grey").out
    before = vault.git.run("rev-parse", "HEAD")
    clawmem("revoke", "--agent", "ann", "--session", session)
    assert vault.git.run("rev-parse", "HEAD") == before
