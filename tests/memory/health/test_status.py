"""Status shows the contents of the vault and the waiting work, and changes nothing."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from clawmem.index.refresh import open_index
from clawmem.memory.health.status import FRESH, MISSING, STALE, status
from clawmem.model.facts.codec import render_items
from clawmem.model.facts.fact import Fact
from clawmem.model.records.event import Event, render_events
from clawmem.vault.state.journal import record_access
from clawmem.vault.vault import Vault

ITEMS = "life/areas/people/jane/items.json"


def a_fact(number: int, state: str) -> Fact:
    """A fact in some state."""
    fact = Fact(f"fact_{number:08x}", f"Fact {number}.", "fact", "2026-11-20T10:00:00Z", "user", state)
    return fact._replace(superseded_by="fact_00000001") if state == "superseded" else fact


def save(root: Path) -> None:
    """Commit everything with plain git."""
    identity = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    subprocess.run(["git", "add", "-A"], cwd=root, check=True)
    subprocess.run(["git", *identity, "commit", "-qm", "by hand"], cwd=root, check=True)


@pytest.fixture
def root(vault_root: Path) -> Path:
    """A vault with four facts in three states and two events."""
    place = vault_root / ITEMS
    place.parent.mkdir(parents=True)
    states = ("active", "active", "superseded", "retracted")
    place.write_bytes(render_items(a_fact(number, state) for number, state in enumerate(states, 1)))
    (place.parent / "summary.md").write_text("# Jane\n")
    (vault_root / "ledger").mkdir(exist_ok=True)
    events = [Event(f"ev_{n}", "2026-11-20T10:00:00Z", "user", "hi") for n in (1, 2)]
    (vault_root / "ledger" / "2026-11-20.jsonl").write_bytes(render_events(events))
    save(vault_root)
    return vault_root


def test_it_counts_what_is_there(root: Path, environment: dict[str, str]) -> None:
    vault = Vault(root, environment)
    record_access(vault, "2026-11-21T09:00:00Z", ["fact_00000001", "fact_00000002"])
    found = status(vault)
    assert found.facts == {"active": 2, "superseded": 1, "retracted": 1, "archived": 0}
    assert (found.entities, found.events, found.unfolded_accesses) == (1, 2, 2)
    assert (found.branch, found.head) == ("main", vault.head().commit)
    assert (found.edits.waiting, found.edits.unreadable, found.unfinished) == ((), (), None)


def test_it_says_how_the_index_was_found(root: Path, environment: dict[str, str]) -> None:
    vault = Vault(root, environment)
    assert status(vault).search.state == MISSING
    assert status(vault).search.state == FRESH
    (root / "daily").mkdir(exist_ok=True)
    (root / "daily" / "2026-11-20.md").write_text("# Day\n")
    save(root)
    assert status(vault).search.state == STALE
    assert status(vault).search[:2] == (FRESH, "fts5")
    (vault.state / "index.sqlite").write_bytes(b"x" * 5000)
    assert status(vault).search.state == STALE


def test_edits_by_hand_wait_and_broken_ones_are_named(root: Path, environment: dict[str, str]) -> None:
    (root / "MEMORY.md").write_text("changed\n")
    (root / ITEMS).write_text("[\n{\n]\n")
    found = status(Vault(root, environment))
    assert found.edits.waiting == ("MEMORY.md",)
    ((path, why),) = found.edits.unreadable
    assert path == ITEMS
    assert f"{ITEMS}:3" in why
    assert found.facts["active"] == 2, "what is committed still counts"


def test_a_committed_file_that_does_not_parse_is_named(root: Path, environment: dict[str, str]) -> None:
    (root / ITEMS).write_text("[\n{\n]\n")
    save(root)
    ((path, _),) = status(Vault(root, environment)).search.unreadable
    assert path == ITEMS


def test_unfinished_work_is_named(root: Path, environment: dict[str, str]) -> None:
    vault = Vault(root, environment)
    open_index(vault).close()
    note: dict[str, object] = {"parent": vault.head().commit, "paths": [], "subject": "remember(x): y", "consumes": []}
    (vault.state / "pending.json").write_text(json.dumps(note))
    assert (status(vault).unfinished or "").startswith("remember(x): y")
    (vault.state / "pending.json").write_text("{")
    assert "damaged" in (status(vault).unfinished or "")
    (vault.git_dir / "MERGE_HEAD").write_text(f"{vault.head().commit}\n")
    assert "a git merge" in (status(vault).unfinished or "")


def test_a_detached_head_has_no_branch(root: Path, environment: dict[str, str]) -> None:
    subprocess.run(["git", "switch", "-q", "--detach"], cwd=root, check=True)
    assert status(Vault(root, environment)).branch is None


def test_it_writes_nothing(root: Path, environment: dict[str, str]) -> None:
    vault = Vault(root, environment)
    status(vault)
    (root / "MEMORY.md").write_text("changed\n")
    before = {path: path.stat().st_mtime_ns for path in root.rglob("*") if path.is_file()}
    status(Vault(root, environment))
    assert {path: path.stat().st_mtime_ns for path in root.rglob("*") if path.is_file()} == before
