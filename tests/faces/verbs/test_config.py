"""`clawmem config` as a process."""

from __future__ import annotations

import subprocess
from pathlib import Path

from tests.conftest import Command


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
