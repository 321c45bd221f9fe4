"""`clawmem config` as a process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Command
from tests.llm import scripted_model
from tests.loopback import fact


def test_get_set_and_list(clawmem: Command, vault_root: Path) -> None:
    assert clawmem("config", "get", "defaults.limit").out == "10\n"
    result = clawmem("config", "set", "defaults.limit", "25", "--json").data
    assert (result["key"], result["old"], result["new"], len(result["commit"])) == ("defaults.limit", 10, 25, 40)
    assert clawmem("config", "get", "defaults.limit", "--json").data["value"] == 25
    assert "\n  limit: 25\n" in (vault_root / "clawmem.yaml").read_text()
    again = clawmem("config", "set", "defaults.limit", "25")
    assert (again.code, again.out) == (0, "defaults.limit is already 25; no commit was made\n")
    listed = {setting["key"]: setting for setting in clawmem("config", "list", "--json").data["settings"]}
    assert listed["defaults.limit"]["value"] == 25
    assert listed["defaults.limit"]["default"] == 10
    assert "lock.wait_seconds\t10\t" in clawmem("config", "list").out


def test_a_setting_takes_effect(clawmem: Command) -> None:
    for number in range(3):
        clawmem("remember", f"Jane likes tea number {number}.")
    clawmem("config", "set", "defaults.limit", "2")
    assert len(clawmem("recall", "tea", "--json").data["facts"]) == 2


def test_an_unknown_key_is_exit_code_1_with_those_that_come_near(clawmem: Command) -> None:
    result = clawmem("config", "get", "lock.wait", "--json")
    assert result.code == 1
    assert result.json["error"]["code"] == "not_found"
    assert "lock.wait_seconds" in result.json["error"]["hint"]


def test_a_bad_value_is_exit_code_2(clawmem: Command) -> None:
    result = clawmem("config", "set", "defaults.limit", "lots")
    assert result.code == 2
    assert "a whole number from 1 to 1,000" in result.err


def test_without_a_verb_it_lists_the_settings(clawmem: Command) -> None:
    assert clawmem("config").out == clawmem("config", "list").out


def test_a_wrong_value_is_mended_by_setting_it(clawmem: Command, vault_root: Path) -> None:
    path = vault_root / "clawmem.yaml"
    good = path.read_text()
    path.write_text(good.replace("\n  limit: 10", "\n  limit: many") + "# mine\n")
    result = clawmem("recall", "tea")
    assert result.code == 0
    assert "Until it is repaired, defaults.limit has its default, 10." in result.err
    refused = clawmem("config", "get", "defaults.limit")
    assert refused.code == 2
    assert "Use `clawmem config set defaults.limit VALUE`" in refused.err
    assert clawmem("config", "set", "lock.wait_seconds", "3").code == 2
    assert clawmem("--agent", "finance", "config", "set", "defaults.limit", "12").code == 1
    assert clawmem("config", "set", "defaults.limit", "more").code == 2
    assert "limit: many" in path.read_text()
    outcome = clawmem("config", "set", "defaults.limit", "12", "--json").data
    assert (outcome["old"], outcome["new"], len(outcome["commit"])) == (10, 12, 40)
    subjects = ["git", "log", "-2", "--format=%s"]
    printed = subprocess.run(subjects, cwd=vault_root, capture_output=True, text=True, check=True).stdout
    assert printed.splitlines() == ["config(defaults.limit): 10 -> 12", "edit(clawmem.yaml): by hand"]
    assert path.read_text() == good.replace("\n  limit: 10", "\n  limit: 12") + "# mine\n"
    assert clawmem("recall", "tea").code == 0
    assert clawmem("doctor").code == 0


pytestmark = pytest.mark.usefixtures("without_vectors")
TALK = json.dumps({"role": "user", "content": "I moved to Lisbon last month.", "timestamp": "2026-11-02T10:00:00Z"})
LIVES = fact("e1", "I moved to Lisbon", "The user lives in Lisbon.", predicate="lives_in", object="Lisbon")
FOUND = json.dumps({"facts": [LIVES]})
WORKS = '{"works": true}'
SCRIPT = str(scripted_model.__file__)


@pytest.fixture
def program(tmp_path: Path) -> Callable[..., str]:
    """A program of this name on a PATH of its own, which does what the scripted model is told; returns the PATH."""

    def make(name: str, *words: str) -> str:
        place = tmp_path / "bin"
        place.mkdir(exist_ok=True)
        quoted = " ".join(f"'{word}'" for word in (sys.executable, SCRIPT, *words))
        (place / name).write_text(f"#!/bin/sh\nexec {quoted}\n")
        (place / name).chmod(0o755)
        return f"{place}:{os.environ['PATH']}"

    return make


def test_a_preset_is_set_and_used(clawmem: Command, program: Callable[..., str]) -> None:
    path = {"PATH": program("claude", "says", f"<think>Lisbon.</think>Here:\n```json\n{FOUND}\n```")}
    result = clawmem("config", "set", "llm.preset", "claude", env=path)
    assert result.code == 0
    assert result.out.splitlines() == [
        "llm.preset: none -> claude",
        "llm.model: (empty) -> command",
        "stored on this machine, .git/clawmem/local.yaml",
        "Events, daily notes and facts are given to the program `claude`, which may send them on.",
    ]
    assert clawmem("ingest", "-", given=TALK).code == 0
    ran = clawmem("heartbeat", env=path)
    assert ran.code == 0, ran.err
    assert "read 1 event by claude: 1 fact added" in ran.out
    assert "cost of claude: price not known, 1 call, " in ran.out
    run = clawmem("status", "--json", env=path).data["learning"]["models"]
    assert (run["names"], run["missing"], run["cents_today"]) == (["claude"], None, 0)
    assert run["unpriced_tokens_today"] > 500
    off = clawmem("config", "set", "llm.preset", "none")
    assert "llm.model: command -> " in off.out
    assert "models" not in clawmem("status", env={**path, "CLAWMEM_NOW": "2026-11-23T09:00:00Z"}).out


def test_a_program_that_is_missing_is_named_everywhere(clawmem: Command) -> None:
    text = "The program gemini, which calls the model, was not found"
    assert text in clawmem("config", "set", "llm.preset", "gemini").out
    assert text in clawmem("status").out
    assert text in clawmem("doctor").out
    clawmem("ingest", "-", given=TALK)
    result = clawmem("heartbeat")
    assert result.code == 14
    assert text in result.err
    assert clawmem("status", "--json").data["learning"]["waiting"] == 1
    tried = clawmem("llm", "test")
    assert tried.code == 14
    assert text in tried.err
    assert "reachable  no" in tried.out


def test_a_run_after_a_failure_goes_on(clawmem: Command, program: Callable[..., str]) -> None:
    path = {"PATH": program("codex", "fails", "You have hit your usage limit.")}
    clawmem("config", "set", "llm.preset", "codex")
    clawmem("ingest", "-", given=TALK)
    failed = clawmem("heartbeat", env=path)
    assert failed.code == 14
    assert "its program ended with exit code 3: You have hit your usage limit." in failed.err
    assert "You have hit your usage limit." in clawmem("status", env=path).out
    program("codex", "says", FOUND)
    assert clawmem("heartbeat", "--json", env=path).data["learned"]["added"] == 1
    assert "usage limit" not in clawmem("status", env=path).out


def test_llm_test_says_what_works(clawmem: Command, program: Callable[..., str], vault_root: Path) -> None:
    refused = clawmem("llm", "test")
    assert (refused.code, "No model is set" in refused.err) == (1, True)
    path = {"PATH": program("claude", "says", WORKS)}
    clawmem("config", "set", "llm.preset", "claude")
    good = clawmem("llm", "test", "--json", env=path)
    assert good.code == 0
    assert (good.data["model"], good.data["reachable"], good.data["json"]) == ("claude", True, True)
    assert good.data["prices"] is None
    assert good.data["run"]["task"] == "test"
    assert '"task": "test"' in next((vault_root / "ledger").glob("*.jsonl")).read_text()
    program("claude", "says", "I am a poet.")
    poet = clawmem("llm", "test", env=path)
    assert poet.code == 14
    assert "reachable  yes" in poet.out
    assert "json       no" in poet.out
    assert "answered, but not with the JSON that was asked for" in poet.err
    assert "price      not known" in poet.out


def test_a_model_for_a_task_and_for_a_run(clawmem: Command, program: Callable[..., str]) -> None:
    path = {"PATH": program("llm", "says", WORKS)}
    clawmem("config", "set", "llm.preset", "llm")
    clawmem("config", "set", "llm.judge_model", "command/small")
    for options, name in (((), "llm"), (("--task", "judge"), "llm/small"), (("--model", "command/big"), "llm/big")):
        assert clawmem("llm", "test", *options, "--json", env=path).data["model"] == name
    agent = clawmem("heartbeat", "--model", "command/big", "--agent", "helper", env=path)
    assert (agent.code, "only a person" in agent.err) == (1, True)


def test_an_agent_sets_no_program(clawmem: Command) -> None:
    for key, value in (("llm.command", "sh -c x"), ("llm.preset", "claude"), ("llm.effort", "high")):
        result = clawmem("config", "set", key, value, "--agent", "helper")
        assert (result.code, "only a person" in result.err) == (1, True)


def test_a_program_of_the_vault_is_only_a_suggestion(
    clawmem: Command, program: Callable[..., str], vault_root: Path
) -> None:
    path = {"PATH": program("stranger", "says", FOUND)}
    file = vault_root / "clawmem.yaml"
    text = (
        file.read_text().replace('model: ""', "model: command", 1).replace('command: ""', "command: [stranger, -x]", 1)
    )
    file.write_text(text)
    clawmem("ingest", "-", given=TALK)
    ran = clawmem("heartbeat", "--json", env=path)
    assert (ran.code, ran.data["learned"]["extractor"]) == (0, "rules")
    assert any("suggests values for llm.model, llm.command" in notice for notice in ran.json["notices"])
    shown = clawmem("config", "trust", env=path)
    assert "are given to the program `stranger -x`, which may send them on" in shown.out + shown.err
    assert clawmem("config", "trust", "--yes").code == 0
    assert clawmem("config", "get", "llm.command").out.strip() == "stranger -x"
