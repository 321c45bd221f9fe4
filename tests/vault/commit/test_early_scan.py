"""The early scan: it counts only where nothing happened between its start and the writer lock."""

from __future__ import annotations

import pytest

from clawmem.memory.facts.remember import remember
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.records.caller import Caller
from clawmem.vault.commit.early_scan import start_early
from clawmem.vault.commit.pending import PendingCommit, write_pending
from clawmem.vault.vault import Vault


def _keep(vault: Vault, caller: Caller, text: str) -> tuple[str, ...]:
    return remember(vault, [draft_from_record({"fact": text}, caller.now)], caller).notices


@pytest.fixture
def settled(vault: Vault, caller: Caller) -> Vault:
    """A vault that has been written to before."""
    _keep(vault, caller, "The first fact")
    return vault


def test_an_edit_seen_early_is_taken_in(settled: Vault, caller: Caller) -> None:
    (settled.root / "MEMORY.md").write_text("# By hand\n")
    settled.early_scan = start_early(settled)
    assert settled.early_scan is not None
    assert any("edited by hand" in sentence for sentence in _keep(settled, caller, "The second fact"))
    assert settled.early_scan is None
    assert settled.git.run("status", "--porcelain") == b""


def test_what_another_writer_did_meanwhile_is_no_edit_by_hand(settled: Vault, caller: Caller) -> None:
    settled.early_scan = start_early(settled)
    other = Vault(settled.root, settled.git.environment)
    _keep(other, caller, "A fact of another writer")
    _keep(settled, caller, "The second fact")
    subjects = settled.git.run("log", "-3", "--format=%s").decode()
    assert "by hand" not in subjects
    assert subjects.count("remember(") == 3


@pytest.mark.parametrize("name", ["index.lock", "HEAD.lock", "packed-refs.lock", "refs/heads/main.lock"])
def test_no_early_scan_beside_a_lock_that_was_left_behind(settled: Vault, caller: Caller, name: str) -> None:
    """It would pass for the git that holds the lock, and where it takes seconds nothing could ever be written again."""
    (settled.git_dir / name).write_bytes(b"")
    assert start_early(settled) is None
    assert any("left behind" in sentence for sentence in _keep(settled, caller, "The second fact"))
    early = start_early(settled)
    assert early is not None
    early.scan.communicate()


def test_no_early_scan_while_a_change_is_under_way(settled: Vault) -> None:
    head = settled.head().commit
    write_pending(settled, PendingCommit(head, ("MEMORY.md",), "unfinished", ()))
    assert start_early(settled) is None
