"""A `clawmem.yaml` that is wrong in one place, or altogether, stops only what needs it, and says so."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from clawmem.errors import DONE, USAGE
from clawmem.faces.cli.app import run
from clawmem.vault.vault import Vault
from tests.faults.checks import git


@pytest.fixture
def settings_file(
    vault: Vault, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch, without_vectors: None
) -> Path:
    """The file of a vault that holds one fact."""
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("CLAWMEM_VAULT", str(vault.root))
    assert run(["remember", "Jane likes tea.", "-e", "areas/people/jane", "--quiet"]) == DONE
    return vault.path("clawmem.yaml")


def broken(path: Path, old: str, new: str) -> str:
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))
    return text


def test_a_wrong_value_stops_nothing_but_what_needs_it(
    settings_file: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    broken(settings_file, "\n  conflict: review", "\n  conflict: banana")
    capsys.readouterr()
    for line in ("recall tea", "context tea", "list", "status", "log", "remember Rain -e projects/x", "note Hello"):
        assert run(line.split()) == DONE, line
        output = capsys.readouterr().err
        assert "clawmem.yaml: The setting sync.conflict is 'banana'" in output, line
    assert run(["config", "get", "sync.conflict"]) == USAGE
    assert run(["config", "list"]) == DONE
    assert run(["doctor"]) != DONE
    assert "conflict: banana" in settings_file.read_text()


@pytest.mark.parametrize("wrong", ["\nagents: {scout: {read_only: banana}}\n", "\nagents: {scout: {may: own}}\n"])
def test_wrong_rights_stop_every_agent_and_no_person(settings_file: Path, wrong: str) -> None:
    settings_file.write_text(settings_file.read_text() + wrong)
    assert run(["remember", "Tea is hot.", "--agent", "finance", "--quiet"]) == USAGE
    # The type of an agent says whether it may read.
    assert run(["list", "--agent", "finance", "--quiet"]) == USAGE
    assert run(["remember", "Tea is hot.", "--quiet"]) == DONE
    assert run(["list", "--quiet"]) == DONE


def test_a_wrong_way_with_secrets_stops_every_change(settings_file: Path) -> None:
    broken(settings_file, "\n  action: refuse", "\n  action: banana")
    assert run(["remember", "Tea is hot.", "--quiet"]) == USAGE
    assert run(["recall", "tea", "--quiet"]) == DONE


@pytest.mark.parametrize("commit", [False, True])
def test_a_file_that_does_not_parse_stops_changes_alone(
    settings_file: Path,
    environment: dict[str, str],
    vault: Vault,
    commit: bool,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    settings_file.write_text(settings_file.read_text() + "\nfoo: [bar\n")
    if commit:
        git(vault.root, environment, "commit", "--quiet", "--all", "--message", "broke")
    before = vault.head().commit
    capsys.readouterr()
    assert run(["list", "--json"]) == DONE
    fact = json.loads(capsys.readouterr().out)["data"]["facts"][0]["id"]
    for line in ("recall tea", "context tea", "list", "status", "log", f"show {fact}"):
        assert run(line.split()) == DONE, line
        result = capsys.readouterr()
        assert "clawmem.yaml" in result.err, line
        assert "Until it is repaired, nothing can be changed." in result.err
    for line in ("remember Rain", "note Hello", "heartbeat", "config set defaults.limit 5", "undo HEAD"):
        assert run(line.split()) == USAGE, line
    assert vault.head().commit == before
    assert run(["backup", str(tmp_path / "memory.clawmem"), "--quiet"]) in (DONE, 4)


def subjects(vault: Vault, number: int) -> list[str]:
    words = ["git", "log", f"-{number}", "--format=%s"]
    output = subprocess.run(words, cwd=vault.root, capture_output=True, check=True)
    return output.stdout.decode().splitlines()


def test_setting_what_an_edit_broke_is_a_change_of_its_own(
    settings_file: Path, vault: Vault, capsys: pytest.CaptureFixture[str]
) -> None:
    broken(settings_file, "\n  limit: 10", "\n  limit: banana")
    assert run(["config", "set", "defaults.limit", "5"]) == DONE
    result = capsys.readouterr()
    assert "defaults.limit: 10 -> 5" in result.out
    assert "defaults.limit was banana by a hand edit, which is not valid" in result.err
    assert subjects(vault, 1) == ["config(defaults.limit): 10 -> 5"]


def test_setting_it_to_what_it_was_makes_no_commit_and_says_so(
    settings_file: Path, vault: Vault, capsys: pytest.CaptureFixture[str]
) -> None:
    before = vault.head().commit
    whole = broken(settings_file, "\n  conflict: review", "\n  conflict: banana")
    assert run(["config", "set", "sync.conflict", "review"]) == DONE
    assert "sync.conflict is already review; no commit was made" in capsys.readouterr().out
    assert vault.head().commit == before
    assert settings_file.read_text() == whole


def test_what_was_committed_wrong_is_replaced_too(
    settings_file: Path, vault: Vault, environment: dict[str, str]
) -> None:
    broken(settings_file, "\n  limit: 10", "\n  limit: banana")
    git(vault.root, environment, "commit", "--quiet", "--all", "--message", "broke")
    assert run(["config", "set", "defaults.limit", "5"]) == DONE
    assert subjects(vault, 1) == ["config(defaults.limit): banana -> 5"]
    assert run(["doctor", "--quiet"]) == DONE
