"""`clawmem status` as a process: the rule that chose the vault, the counts, the JSON."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Command


@pytest.mark.parametrize(
    ("arguments", "env", "rule"),
    [
        ((), {}, "the nearest clawmem.yaml upwards"),
        (("--vault", "."), {}, "--vault"),
        ((), {"CLAWMEM_VAULT": "."}, "CLAWMEM_VAULT"),
    ],
)
def test_it_says_which_rule_chose_the_vault(
    arguments: tuple[str, ...], env: dict[str, str], rule: str, clawmem: Command, vault_root: Path
) -> None:
    data = clawmem("status", *arguments, "--json", env=env).data
    assert (data["vault"], data["rule"]) == (str(vault_root), rule)
    assert f"chosen by {rule}" in clawmem("status", *arguments, env=env).out


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
    done = clawmem("status")
    assert "edits     1 by hand, committed before the next change: MEMORY.md" in done.out
    assert clawmem("status", "--json").data["head"] == head


def test_no_vault(clawmem: Command, tmp_path: Path) -> None:
    done = clawmem("status", "--json", cwd=tmp_path)
    assert (done.code, done.json["error"]["code"]) == (10, "no_vault")
