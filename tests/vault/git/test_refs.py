"""Refs read from git's files equal those of `git for-each-ref`, loose or packed."""

from __future__ import annotations

import pytest

from clawmem.errors import GitFailed
from clawmem.vault.git.refs import read_ref, refs_below
from clawmem.vault.vault import Vault

FOLDER = "refs/clawmem/rescue"


def made(vault: Vault, *names: str) -> str:
    """Let git make refs to HEAD; the commit."""
    head = vault.head().commit
    assert head is not None
    for name in names:
        vault.git.run("update-ref", f"{FOLDER}/{name}", head)
    return head


def told(vault: Vault) -> list[str]:
    """What git says."""
    return vault.git.run("for-each-ref", "--format=%(refname)", FOLDER).decode().split()


def test_none(vault: Vault) -> None:
    assert refs_below(vault.git_dir, FOLDER) == [] == told(vault)
    assert read_ref(vault.git_dir, f"{FOLDER}/one") is None


def test_loose_and_packed_ones(vault: Vault) -> None:
    head = made(vault, "b", "a")
    assert refs_below(vault.git_dir, FOLDER) == [f"{FOLDER}/a", f"{FOLDER}/b"] == told(vault)
    vault.git.run("pack-refs", "--all")
    made(vault, "c", "a")
    vault.git.run("update-ref", "refs/clawmem/rescuers/d", head)
    (vault.git_dir / FOLDER / "e.lock").write_text("")
    assert refs_below(vault.git_dir, FOLDER) == [f"{FOLDER}/{name}" for name in "abc"] == told(vault)
    assert {read_ref(vault.git_dir, name) for name in told(vault)} == {head}
    vault.git.run("update-ref", "-d", f"{FOLDER}/b")
    assert read_ref(vault.git_dir, f"{FOLDER}/b") is None
    assert refs_below(vault.git_dir, FOLDER) == told(vault)


def test_a_folder_is_no_ref_and_a_damaged_one_is_named(vault: Vault) -> None:
    made(vault, "a")
    assert read_ref(vault.git_dir, FOLDER) is None
    (vault.git_dir / FOLDER / "a").write_text("nonsense\n")
    with pytest.raises(GitFailed, match="is damaged"):
        read_ref(vault.git_dir, f"{FOLDER}/a")
