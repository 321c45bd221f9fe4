"""Who did it: a person's commands carry their git identity, an agent's its name, a heartbeat's clawmem's."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.conftest import Command

pytestmark = pytest.mark.usefixtures("without_vectors")

TALK = ("--entity", "areas/people/jane")


def authors(root: Path) -> dict[str, str]:
    """The author and committer of the latest commit of each operation."""
    printed = subprocess.run(
        ["git", "log", "--reverse", "--format=%s|%an <%ae> %cn"], cwd=root, capture_output=True, text=True, check=True
    ).stdout
    return {line.partition("(")[0]: line.rpartition("|")[2] for line in printed.splitlines()}


def test_each_commit_names_who_did_it(clawmem: Command, vault_root: Path) -> None:
    fact = clawmem("remember", "Jane likes tea.", *TALK, "--json").data["facts"][0]["id"]
    clawmem("supersede", fact, "Jane likes coffee.", "--agent", "cli")
    clawmem("config", "set", "defaults.limit", "7")
    clawmem("recall", "what does Jane like?")
    clawmem("heartbeat")
    config = next(row["commit"] for row in clawmem("log", "--json").data["history"] if "config" in row["subject"])
    clawmem("undo", config)
    found = authors(vault_root)
    person = "Ada Person <ada@example.org> clawmem"
    assert {name: found[name] for name in ("remember", "config", "undo")} == dict.fromkeys(
        ("remember", "config", "undo"), person
    )
    assert found["supersede"] == "cli <cli@agents.clawmem> clawmem"
    assert found["summarise"] == "clawmem <vault@clawmem> clawmem"
    for name in ("Ada", "ada person", "ada@example.org"):
        (first, *_) = clawmem("log", "--by", name, "--json").data["history"]
        assert first["author"] == "Ada Person"
    assert clawmem("doctor").code == 0


def test_without_an_identity_the_author_is_clawmem(clawmem: Command, vault_root: Path, tmp_path: Path) -> None:
    home = {"HOME": str(tmp_path)}
    assert clawmem("config", "trust", "--yes", env=home).code == 0
    assert clawmem("remember", "Jane likes tea.", *TALK, env=home).code == 0
    assert authors(vault_root)["remember"] == "clawmem <vault@clawmem> clawmem"


def test_the_user_by_name_is_one_entity(clawmem: Command) -> None:
    clawmem("config", "set", "user.name", "Ada")
    items = [
        {"role": "user", "content": "Remember that I'm allergic to nuts.", "timestamp": "2026-11-20T09:00:00Z"},
        {
            "role": "user",
            "speaker": "Ada",
            "content": "Remember that I live in Oslo.",
            "timestamp": "2026-11-20T09:01:00Z",
        },
        {
            "role": "user",
            "speaker": "user",
            "content": "Remember that my sister is Grace.",
            "timestamp": "2026-11-20T09:02:00Z",
        },
    ]
    clawmem("ingest", "-", "--format", "jsonl", given="\n".join(map(json.dumps, items)))
    clawmem("heartbeat")
    facts = clawmem("list", "--json").data["facts"]
    assert {fact["entity"] for fact in facts} == {"areas/people/ada"}
    assert {fact["subject"] for fact in facts} == {"Ada"}
    assert clawmem("recall", "where do I live?", "--json").data["facts"][0]["object"] == "Oslo"
    answer = clawmem("remember", "I live in Rome now.", "--entity", "areas/people/ada", "--json")
    assert len(answer.data["conflicts"]) == 1
