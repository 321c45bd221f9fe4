"""`clawmem status` as a process: the rule that chose the vault, the counts, the JSON."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from clawmem.vault.disk import writer_lock
from clawmem.vault.state.heartbeat_state import LOCK, LOG
from clawmem.vault.state.hook_marks import FOLDER, HookMark
from tests.command_server import CommandServer
from tests.conftest import Command

pytestmark = pytest.mark.usefixtures("without_vectors")


def test_the_counts(clawmem: Command) -> None:
    clawmem("remember", "Jane likes tea.", "--entity", "areas/people/jane")
    clawmem("recall", "what does Jane like?")
    data = clawmem("status", "--json").data
    assert data["facts"] == {"active": 1, "superseded": 0, "retracted": 0, "archived": 0}
    assert (data["entities"], data["unfolded_accesses"], data["format"], data["branch"]) == (1, 1, 1, "main")
    assert data["index"] == {"state": "fresh", "engine": "fts5", "unreadable": []}
    assert data["edits"] == {"waiting": [], "unreadable": []}


def test_it_commits_nothing_and_names_edits(clawmem: Command, vault_root: Path) -> None:
    head = clawmem("status", "--json").data["head"]
    (vault_root / "MEMORY.md").write_text("mine\n")
    result = clawmem("status")
    assert "edits     1 by hand, committed before the next change: MEMORY.md" in result.out
    assert clawmem("status", "--json").data["head"] == head


def test_events_that_wait_and_the_last_heartbeat(clawmem: Command) -> None:
    items = ["Remember that I live in Oslo.", "Nice weather today."]
    lines = "\n".join(json.dumps({"role": "user", "content": text, "speaker": "Mia"}) for text in items)
    clawmem("ingest", "-", given=lines)
    before = clawmem("status")
    assert (
        "learning  2 messages kept, 0 taught a fact; 2 unread by any model: `clawmem learn pending`, or" in before.out
    )
    assert "reader    off on this machine" in before.out and "`clawmem setup HARNESS --learn` turns it on" in before.out
    assert "heartbeat never on this machine" in before.out
    learn = "; without a model, an agent reads them: `clawmem learn pending`"
    assert f"taught nothing: 1 of 2 events{learn}\n" in clawmem("heartbeat").out
    after = clawmem("status", "--json").data["learning"]
    last = after["last_heartbeat"]
    assert (after["waiting"], last["events"], last["taught_nothing"], last["failed"]) == (0, 2, 1, [])
    assert last["facts"] >= 1
    clawmem("ingest", "-", given=json.dumps({"role": "user", "content": "I like tea.", "speaker": "Mia"}))
    assert clawmem("status", "--json").data["learning"]["waiting"] == 1
    # Rules have read what waited for the heartbeat, and no model has.
    assert "learning  3 messages kept, 1 taught a fact; 3 unread by any model" in clawmem("status").out


def test_doctor_warns_when_nothing_was_read_for_a_week(clawmem: Command) -> None:
    line = {"role": "user", "content": "I live in Oslo.", "timestamp": "2026-01-05T10:00:00Z"}
    clawmem("ingest", "-", given=json.dumps(line))

    def warned() -> bool:
        problems = clawmem("doctor", "--json").data["problems"]
        return any("1 event older than a week waits for a model" in problem["message"] for problem in problems)

    assert warned()
    task = clawmem("learn", "pending", "--json").data
    answer = {"task": task["id"], "facts": [{"e": 1, "q": "I live in Oslo", "s": "The user lives in Oslo."}]}
    result = clawmem("learn", "apply", "-", given=json.dumps(answer))
    assert result.code == 0, result.err
    assert not warned()
    status = clawmem("status").out
    assert "learning  1 message kept, 1 taught a fact; none is unread\n" in status
    assert "; agent read 1 message, 1 fact, 0 tokens, last " in status


def test_why_the_last_heartbeat_failed_and_a_missing_key(
    clawmem: Command, vault_root: Path, environment: dict[str, str], litellm_server: CommandServer
) -> None:
    clawmem("ingest", "-", given=json.dumps({"role": "user", "content": "I live in Oslo.", "speaker": "Mia"}))
    clawmem("config", "set", "llm.model", "openai/gpt-4o-mini")
    clawmem("config", "set", "llm.api_key_env", "MY_KEY")
    assert "key       The environment variable MY_KEY," in clawmem("status").out
    assert "MY_KEY" not in clawmem("status", env={"MY_KEY": "k"}).out
    failed = litellm_server.run(("heartbeat",), b"", vault_root, environment, seconds=300)
    assert failed.returncode != 0
    learning = clawmem("status", "--json").data["learning"]
    assert [other["step"] for other in learning["last_heartbeat"]["failed"]] == ["model"]
    assert learning["waiting"] == 1
    problems = clawmem("doctor", "--json").data["problems"]
    assert {"learning", "model-key"} <= {problem["check"] for problem in problems if problem["severity"] == "warning"}
    assert any("1 event waits" in problem["message"] for problem in problems)


def test_a_heartbeat_that_could_not_start(clawmem: Command) -> None:
    clawmem("config", "set", "llm.model", "openai/gpt-4o-mini")
    assert clawmem("heartbeat", env={"CLAWMEM_PARA_PROMOTION_BUDGET_CENTS": "much"}).code == 2
    output = clawmem("status").out
    assert "could not start\n" in output
    assert "failed    CLAWMEM_PARA_PROMOTION_BUDGET_CENTS" in output


def test_a_heartbeat_that_met_a_lock_or_stopped(clawmem: Command, vault_root: Path) -> None:
    state = vault_root / ".git/clawmem"
    clawmem("config", "set", "lock.wait_seconds", "0.1")
    with writer_lock(state / LOCK, 0, "another heartbeat"):
        assert clawmem("heartbeat").code == 11
    (failed,) = clawmem("status", "--json").data["learning"]["last_heartbeat"]["failed"]
    assert (failed["step"], failed["code"]) == ("", "locked")
    (state / LOG).mkdir()
    assert clawmem("heartbeat").code != 0
    (failed,) = clawmem("status", "--json").data["learning"]["last_heartbeat"]["failed"]
    assert failed["step"] == "" and failed["message"].startswith("IsADirectoryError")
    (state / LOG).rmdir()
    assert clawmem("heartbeat").code == 0
    assert clawmem("status", "--json").data["learning"]["last_heartbeat"]["failed"] == []


def test_no_vault(clawmem: Command, tmp_path: Path) -> None:
    result = clawmem("status", "--json", cwd=tmp_path)
    assert (result.code, result.json["error"]["code"]) == (10, "no_vault")
    assert "`clawmem setup claude-code`" in clawmem(cwd=tmp_path).err


def test_what_waits_is_one_number_and_setup_is_named_until_it_was_done(clawmem: Command, vault_root: Path) -> None:
    proposal = {
        "id": "prop_00000001", "kind": "fact", "status": "open", "says": "Jane sails.", "why": "Nobody read it.",
        "created": "2026-11-20T10:00:00Z", "does": "add", "entity": "areas/people/jane",
        "fact": {"fact": "Jane sails.", "category": "fact", "source": "chat", "workflow": "heartbeat/candidates"},
    }  # fmt: skip
    (vault_root / "review").mkdir(exist_ok=True)
    (vault_root / "review" / "prop_00000001.json").write_text(json.dumps(proposal), encoding="utf-8")
    before = clawmem("status")
    assert "review    1 open" in before.out and "decides the 1 that wait" in before.out
    assert "1 candidate for you" in before.out
    assert "`clawmem setup --list` lists the agents" in before.out and clawmem("setup", "--list").code == 0
    assert clawmem("setup", "cursor").code == 0
    assert "setup --list" not in clawmem("status").out


def test_two_hooks_are_shown_the_failed_first(clawmem: Command, vault_root: Path) -> None:
    folder = vault_root / ".git" / "clawmem" / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for number, outcome in enumerate(("done", "failed", "done", "done")):
        mark = HookMark("cursor", f"event{number}", f"2026-11-20T10:0{number}:00Z", outcome, "x", 5)
        (folder / f"cursor-{number}.json").write_text(json.dumps(mark._asdict()), encoding="utf-8")
    lines = [line for line in clawmem("status").out.splitlines() if line.startswith("hook")]
    assert [line.split()[2] for line in lines] == ["event1", "event3"]


def test_a_second_machine_is_told_how_to_accept_what_its_person_wrote_on_the_first(
    clawmem: Command, vault_root: Path, tmp_path: Path, environment: dict[str, str]
) -> None:
    clawmem("remember", "Never deploy on Fridays.")
    clawmem("decision", "add", "Use Postgres.", "--reason", "It has JSON.")
    home = tmp_path / "second laptop"
    home.mkdir()
    (home / ".gitconfig").write_bytes((Path(environment["HOME"]) / ".gitconfig").read_bytes())
    env = {"HOME": str(home)}
    subprocess.run(["git", "clone", "-q", vault_root, home / ".clawmem"], check=True, env={**environment, **env})

    def first_step() -> str:
        command: str = clawmem("status", "--json", cwd=home, env=env).data["next"][0]["command"]
        return command

    assert clawmem("list", cwd=home, env=env).out.count("from outside, unverified") == 2
    command = first_step()
    assert command.startswith("clawmem review trust ")
    assert "2 facts served as from outside" in clawmem("status", cwd=home, env=env).out
    assert clawmem(*command.split()[1:], cwd=home, env=env).code == 0
    assert "from outside" not in clawmem("list", cwd=home, env=env).out
    assert "review trust" not in first_step()
    assert "review trust" not in clawmem("status").out


def test_a_second_machine_of_somebody_else_is_told_nothing(
    clawmem: Command, vault_root: Path, tmp_path: Path, environment: dict[str, str]
) -> None:
    clawmem("remember", "Never deploy on Fridays.")
    home = tmp_path / "another"
    home.mkdir()
    (home / ".gitconfig").write_text("[user]\n\tname = Mia\n\temail = mia@example.org\n")
    env = {"HOME": str(home)}
    subprocess.run(["git", "clone", "-q", vault_root, home / ".clawmem"], check=True, env={**environment, **env})
    assert "from outside, unverified" in clawmem("list", cwd=home, env=env).out
    assert "review trust" not in clawmem("status", cwd=home, env=env).out
