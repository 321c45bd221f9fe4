"""Which commits count as made in this clone, and what is told about the others."""

from __future__ import annotations

from pathlib import Path

import pytest

from clawmem.model.records.change import Change, trailers
from clawmem.vault.commit.transaction import transaction
from clawmem.vault.git.acceptance import accept
from clawmem.vault.state.own_commits import unaccepted_commits
from clawmem.vault.vault import Vault
from tests.conftest import NOW
from tests.faults.checks import git

FACTS = "life/areas/people/jane/items.json"
LINE = '{"id": "fact_1a2b3c4d", "fact": "Jane sails."}'


@pytest.fixture
def clone(vault: Vault, environment: dict[str, str]) -> Vault:
    """A git clone of the vault, where nothing but its own commits counts as made here."""
    root = vault.root.parent / "clone"
    git(vault.root, environment, "clone", "-q", str(vault.root), str(root))
    accept(root / ".git", environment)
    return Vault(root, environment)


def written(root: Path, data: bytes) -> None:
    path = root / FACTS
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def test_a_commit_that_a_person_makes_with_git_in_a_clone_is_made_here(
    clone: Vault, environment: dict[str, str]
) -> None:
    before = clone.head().commit
    with transaction(clone, NOW, "test") as started:
        started.commit([Change("note(daily): a line", {"daily/2026-11-20.md": b"- one\n"}, trailers("note"))])
    written(clone.root, f"[\n{LINE}\n]\n".encode())
    git(clone.root, environment, "add", FACTS)
    git(clone.root, environment, "commit", "-q", "-m", "mine")
    git(clone.root, environment, "commit", "-q", "--amend", "-m", "mine, in other words")
    assert unaccepted_commits(clone, before, clone.head().commit or "") == []


def test_a_fact_in_a_file_that_git_shows_as_binary_is_told_with_its_line(
    vault: Vault, clone: Vault, environment: dict[str, str]
) -> None:
    before = clone.head().commit
    with transaction(clone, NOW, "test") as started:
        started.commit([Change("note(daily): a line", {"daily/2026-11-20.md": b"- one\n"}, trailers("note"))])
    written(vault.root, f"[\n{LINE}\n]\n\0\n".encode())
    (vault.root / "other.txt").write_text("not a fact\n")
    git(vault.root, environment, "add", FACTS, "other.txt")
    git(vault.root, environment, "commit", "-q", "-m", "another machine's")
    git(clone.root, environment, "fetch", "-q")
    (commit,) = unaccepted_commits(clone, before, vault.head().commit or "")
    assert commit.commit == vault.head().commit
    assert LINE in commit.added and "not a fact" not in commit.added and commit.removed == ()
