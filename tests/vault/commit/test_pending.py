"""The note of a change that was cut off, and what the next command makes of it."""

from __future__ import annotations

import shutil

import pytest

from clawmem.errors import StorageFailed
from clawmem.vault.commit.pending import PendingCommit, write_pending
from clawmem.vault.commit.transaction import transaction
from clawmem.vault.disk import partial_path
from clawmem.vault.git.index import index_lock_path
from clawmem.vault.vault import Vault
from tests.conftest import NOW
from tests.faults.checks import git


def _committed(vault: Vault, subject: str) -> str | None:
    """Make an empty commit and return the one before it."""
    before = vault.head().commit
    git(vault.root, vault.git.environment, "commit", "-q", "--allow-empty", "-m", subject)
    return before


def test_a_change_cut_off_before_its_commit_takes_no_part_in_an_edit(vault: Vault) -> None:
    used = vault.state / "used.json"
    used.write_text("{}\n")
    write_pending(vault, PendingCommit(vault.head().commit, ("MEMORY.md",), "note(x): mine", (used.name,)))
    (vault.root / "MEMORY.md").write_text("# Mine\n")
    with transaction(vault, NOW, "test") as started:
        started.adopt()
    assert not any("kept your edit" in notice for notice in started.notices)
    assert vault.git.run("show", "HEAD:MEMORY.md") == b"# Mine\n"
    assert used.exists()


@pytest.mark.parametrize("subject", ["note(x): mine", "note(x): another's"])
def test_state_that_a_change_used_up_goes_only_if_the_change_was_committed(vault: Vault, subject: str) -> None:
    used = vault.state / "used.json"
    used.write_text("{}\n")
    before = _committed(vault, subject)
    write_pending(vault, PendingCommit(before, ("MEMORY.md",), "note(x): mine", (used.name,)))
    with transaction(vault, NOW, "test"):
        pass
    assert used.exists() == (subject != "note(x): mine")


def test_a_note_cannot_delete_files_outside(vault: Vault) -> None:
    precious = vault.root.parent / "precious"
    precious.write_text("mine")
    before = _committed(vault, "note(x): mine")
    write_pending(vault, PendingCommit(before, (), "note(x): mine", ("../../../precious",)))
    with pytest.raises(StorageFailed, match="damaged"), transaction(vault, NOW, "test"):
        pass
    assert precious.exists()


def test_half_a_file_goes_also_where_the_whole_one_was_edited_meanwhile(vault: Vault) -> None:
    before = vault.head().commit
    (vault.root / "MEMORY.md").write_text("# Theirs\n")
    git(vault.root, vault.git.environment, "commit", "-qam", "note(x): mine")
    write_pending(vault, PendingCommit(before, ("MEMORY.md",), "note(x): mine", ()))
    (vault.root / "MEMORY.md").write_text("# Mine\n")
    half = partial_path(vault.root / "MEMORY.md")
    half.write_text("# The")
    with transaction(vault, NOW, "test"):
        pass
    assert not half.exists()
    assert (vault.root / "MEMORY.md").read_text() == "# Mine\n"


def test_gits_index_stays_locked_until_a_change_that_failed_is_finished(vault: Vault) -> None:
    """Otherwise `git commit -a` in between would take the change back."""
    (vault.root / "MEMORY.md").write_text("# Mine\n")
    in_the_way = vault.state / "git-index"
    in_the_way.mkdir()
    (in_the_way / "x").touch()
    with transaction(vault, NOW, "test") as started, pytest.raises(IsADirectoryError):
        started.adopt()
    assert index_lock_path(vault).exists()
    shutil.rmtree(in_the_way)
    with transaction(vault, NOW, "test"):
        pass
    assert not index_lock_path(vault).exists()
    assert git(vault.root, vault.git.environment, "status", "--porcelain") == ""
