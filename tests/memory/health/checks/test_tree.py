"""Names and places: misplaced files of entities, missing folders, and rules by which git merges."""

from __future__ import annotations

import pytest

from clawmem.memory.health.checks import ERROR, HealthProblem
from clawmem.memory.health.doctor import doctor
from clawmem.model.records.caller import Caller
from clawmem.vault.vault import Vault
from tests.faults.checks import git

RULES = ("*.md merge=clawmem", "*.json merge=clawmem", "*.jsonl merge=union", "*.yaml merge=clawmem")


def _problems(vault: Vault, caller: Caller, check: str, fix: bool = False) -> list[HealthProblem]:
    return [problem for problem in doctor(vault, caller, fix=fix).problems if problem.check == check]


@pytest.mark.parametrize("folder", ["life/areas/a/b/c", "agents/cli/workspace/areas/a/b/c"])
def test_facts_where_no_entity_can_be_are_an_error(vault: Vault, caller: Caller, folder: str) -> None:
    path = vault.root / folder / "items.json"
    path.parent.mkdir(parents=True)
    path.write_text("[\n]\n")
    (problem,) = _problems(vault, caller, "entity-place")
    assert (problem.severity, problem.path) == (ERROR, f"{folder}/items.json")
    assert _problems(vault, caller, "unclaimed-file") == []


def test_a_missing_folder_is_made_again(vault: Vault, caller: Caller) -> None:
    folder = vault.root / "daily"
    for path in folder.iterdir():
        path.unlink()
    folder.rmdir()
    (problem,) = _problems(vault, caller, "missing-folder")
    assert (problem.path, problem.fixable) == ("daily/", True)
    assert [problem.fixed for problem in _problems(vault, caller, "missing-folder", fix=True)] == [True]
    assert folder.is_dir() and _problems(vault, caller, "missing-folder") == []


@pytest.mark.parametrize(
    ("first", "problems"), [("*.md merge=clawmem", 0), ("*.md -merge", 0), ("*.md merge=ours", 0), ("*.md text", 1)]
)
def test_a_rule_of_a_persons_own_for_merging_is_left_alone(
    vault: Vault, caller: Caller, first: str, problems: int
) -> None:
    path = vault.root / ".gitattributes"
    path.write_text("".join(f"{line}\n" for line in (first, *RULES[1:])))
    git(vault.root, vault.git.environment, "add", ".gitattributes")
    git(vault.root, vault.git.environment, "commit", "-q", "-m", "mine")
    found = [problem for problem in _problems(vault, caller, "merge-driver") if problem.path == path.name]
    assert len(found) == problems and all(problem.fixable for problem in found)
