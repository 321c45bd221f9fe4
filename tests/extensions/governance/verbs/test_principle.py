"""Checking files against principles: what is checked, what is left out, and that it ends."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import jsonschema
import pytest

from clawmem.errors import IncompleteAnswer, InvalidInput, NotFound, Refused
from clawmem.extensions.governance.principle import PRINCIPLES_PATH, Principle
from clawmem.extensions.governance.verbs.principle import check_files, read_principles, read_principles_file
from clawmem.memory.allowed_commands import allow_command, plan_command
from clawmem.model.records.caller import Caller
from clawmem.vault.vault import Vault
from tests.conftest import Command

ROOT = Path(__file__).parents[4]
SARIF = ROOT / "tests/extensions/governance/sarif-2.1.0.json"
TAR = """
no-tar:
  rule: No tar.
  reason: It sticks.
  paths: ["**", "!paint/**"]
  check: {regex: '\\btar\\b'}
  good: paint
  bad: tar
"""
SAILS = "sails:\n  rule: It sails.\n  reason: It is a boat.\n  paths: ['*.txt']\n  check: {command: ./sail.sh}\n"


@pytest.fixture
def work(tmp_path: Path) -> Path:
    folder = tmp_path / "boat"
    folder.mkdir()
    return folder


@pytest.fixture
def rules(tmp_path: Path) -> tuple[Principle, ...]:
    path = tmp_path / "rules.yaml"
    path.write_text(TAR)
    return read_principles_file(path)


def write(folder: Path, **files: str | bytes) -> None:
    for name, content in files.items():
        path = folder / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)


def found(rules: tuple[Principle, ...], folder: Path, environment: dict[str, str]) -> list[tuple[str, int, int, int]]:
    return [
        (finding.path, finding.line, finding.start, finding.end)
        for finding in check_files(rules, folder, environment).findings
    ]


def git(folder: Path, environment: dict[str, str], *words: str) -> None:
    subprocess.run(["git", *words], cwd=folder, env=environment, check=True, capture_output=True)


def test_a_folder(rules: tuple[Principle, ...], work: Path, environment: dict[str, str]) -> None:
    write(work, a_txt="a\nwith tar and tar\r\ntarget\n", paint__b_txt="tar\n", deep__c_txt="é tar", empty="")
    write(work, image_png=b"tar\0tar", latin_txt=b"tar \xe9")
    (work / "link.txt").symlink_to(work / "a.txt")
    assert found(rules, work, environment) == [("a.txt", 2, 6, 9), ("deep/c.txt", 1, 3, 6)]
    assert found(rules, work / "a.txt", environment) == [("a.txt", 2, 6, 9)]
    assert check_files(rules, work, environment).checked == 3


def test_a_git_checkout_without_ignored_files_and_with_paths_from_its_top(
    rules: tuple[Principle, ...], work: Path, environment: dict[str, str]
) -> None:
    git(work, environment, "init")
    write(work, a_txt="tar", new__b_txt="tar", built__c_txt="tar", paint__d_txt="tar")
    (work / ".gitignore").write_text("built/\n")
    (work / "läuft [1].txt").write_text("tar")
    git(work, environment, "add", "a.txt")
    (work / "gone.txt").write_text("tar")
    git(work, environment, "add", "gone.txt")
    (work / "gone.txt").unlink()
    assert [pair[0] for pair in found(rules, work, environment)] == ["a.txt", "läuft [1].txt", "new/b.txt"]
    assert [pair[0] for pair in found(rules, work / "new", environment)] == ["new/b.txt"]
    assert [pair[0] for pair in found(rules, work / "läuft [1].txt", environment)] == ["läuft [1].txt"]


def test_what_is_too_large_or_too_long_is_named(
    rules: tuple[Principle, ...], work: Path, environment: dict[str, str]
) -> None:
    write(work, large_txt="tar\n" * 500_001, long_txt="x" * 2000 + " tar\n")
    check = check_files(rules, work, environment)
    assert check.findings == ()
    assert check.notices == (
        "large.txt was not checked: it has more than 2,000,000 bytes",
        "long.txt:1 is long: only its first 2,000 characters were checked",
    )


def test_a_check_that_takes_too_long_ends_and_names_the_principle(work: Path, environment: dict[str, str]) -> None:
    rules = work.parent / "rules.yaml"
    rules.write_text("slow:\n  rule: Slow.\n  reason: So.\n  check: {regex: '(?:a|aa)+$'}\n  good: c\n  bad: a\n")
    write(work, a_txt="a" * 1990 + "b")
    with pytest.raises(Refused, match=r"the last was the principle slow in a\.txt"):
        check_files(read_principles_file(rules), work, environment, seconds=0.3)


def test_a_named_pipe_is_not_waited_for(
    rules: tuple[Principle, ...], work: Path, environment: dict[str, str]
) -> None:  # fmt: skip
    os.mkfifo(work / "pipe")
    assert check_files(rules, work, environment).checked == 0


def test_a_folder_that_is_missing_and_files_of_principles_that_are_wrong(
    rules: tuple[Principle, ...], work: Path, environment: dict[str, str]
) -> None:
    with pytest.raises(NotFound):
        check_files(rules, work / "none", environment)
    with pytest.raises(InvalidInput, match="cannot be read"):
        read_principles_file(work)
    write(work, rules_yaml="no-tar:\n  rule: [\n")
    with pytest.raises(InvalidInput, match=r"rules\.yaml:3 cannot be read"):
        read_principles_file(work / "rules.yaml")


def test_a_command_runs_only_after_a_person_allowed_it(
    vault: Vault, caller: Caller, work: Path, environment: dict[str, str]
) -> None:
    (vault.root / PRINCIPLES_PATH).write_text(SAILS)
    rules = read_principles(vault)
    write(
        work,
        a_txt="leak",
        b_md="leak",
        sail_sh="#!/bin/sh\necho run >> log\necho ./a.txt:7: leak; echo b.md:1: x; exit 3\n",
    )
    (work / "sail.sh").chmod(0o755)
    refused = check_files(rules, work, environment, vault)
    assert refused.findings == () and "is not allowed" in refused.notices[0]
    assert isinstance(refused.notices[0], IncompleteAnswer)
    assert not (work / "log").exists()
    allow_command(vault, plan_command(vault, caller, "./sail.sh", work))
    check = check_files(rules, work, environment, vault)
    assert [(finding.path, finding.line, finding.text) for finding in check.findings] == [("a.txt", 7, "leak")]
    write(work, sail_sh="#!/bin/sh\nexit 0\n")
    assert "has changed" in check_files(rules, work, environment, vault).notices[0]
    allow_command(vault, plan_command(vault, caller, "./sail.sh", work))
    passed = check_files(rules, work, environment, vault)
    assert (passed.findings, passed.notices) == ((), ())
    assert "needs a vault" in check_files(rules, work, environment).notices[0]


def test_the_verb_prints_what_editors_read_and_sarif(clawmem: Command, vault_root: Path, work: Path) -> None:
    (vault_root / PRINCIPLES_PATH).write_text(TAR)
    write(work, a_txt="one\ntar\n")
    result = clawmem("principle", "check", str(work))
    assert (result.code, result.out) == (1, "a.txt:2: no-tar: No tar.\n")
    sarif = clawmem("principle", "check", str(work), "--sarif")
    assert sarif.code == 1
    log = json.loads(sarif.out)
    jsonschema.validate(log, json.loads(SARIF.read_text()))
    assert log["runs"][0]["results"][0]["ruleId"] == "no-tar"
    write(work, a_txt="one\n")
    assert clawmem("principle", "check", str(work)).code == 0
    (vault_root / PRINCIPLES_PATH).write_text("no-tar: {rule: 3}\n")
    broken = clawmem("principle", "check", str(work))
    assert broken.code == 2 and f"{PRINCIPLES_PATH}:1 cannot be read: the key 'no-tar.rule'" in broken.err
    message = clawmem("doctor")
    assert message.code == 1 and "no-tar.rule" in message.out


def test_the_linter_checks_the_principles_of_this_repository() -> None:
    assert len(read_principles_file(ROOT / "docs/principles.yaml")) > 4
    assert "principle check --file docs/principles.yaml" in (ROOT / "Makefile").read_text()
