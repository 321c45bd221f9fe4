"""Contents by commit and path: what is not there is None, what git lost is an error, never nothing."""

from __future__ import annotations

import pytest

from clawmem.errors import GitFailed
from clawmem.index.refresh import open_index
from clawmem.memory.facts.remember import remember
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.records.caller import Caller
from clawmem.vault.history.history import REGULAR_MODE, FileVersion, read_versions
from clawmem.vault.vault import Vault
from tests.faults.scenarios import keep

PATH = "life/projects/otters/items.json"


@pytest.fixture
def lost(vault: Vault) -> str:
    """The name of a file's contents, which git no longer has."""
    keep(vault, "Otters hold hands.", "Otters use tools.", entity="projects/otters")
    return lose(vault, f"HEAD:{PATH}")


def lose(vault: Vault, what: str) -> str:
    """Take one loose object away."""
    name = vault.git.run("rev-parse", what).decode().strip()
    (vault.git_dir / "objects" / name[:2] / name[2:]).unlink()
    return name


def test_a_lost_object_is_no_missing_file(vault: Vault, lost: str) -> None:
    assert vault.contents_at("HEAD", ["life/none/items.json", "none.md"]) == {
        "life/none/items.json": None,
        "none.md": None,
    }
    many = [f"none/{number}" for number in range(600)]
    for names in ([PATH], ["none.md", PATH], [":!none", PATH], [*many, PATH]):
        with pytest.raises(GitFailed, match=f"has lost its copy of {PATH}"):
            vault.contents_at("HEAD", names, checked=False)
    with pytest.raises(GitFailed, match=f"has lost its copy of {lost}"):
        read_versions(vault, [("MEMORY.md", FileVersion(REGULAR_MODE, lost))])


def test_a_lost_tree_is_no_missing_folder(vault: Vault) -> None:
    keep(vault, "Otters hold hands.", entity="projects/otters")
    lose(vault, "HEAD:life/projects")
    with pytest.raises(GitFailed):
        vault.contents_at("HEAD", [PATH])
    with pytest.raises(GitFailed):
        vault.contents_at("HEAD", ["life/projects/nothing/items.json"])
    with pytest.raises(GitFailed):
        vault.changed_paths("HEAD~1", "HEAD")
    assert vault.changed_paths_or_none("HEAD", "1" * 40) is None


@pytest.mark.usefixtures("lost")
def test_no_index_is_built_without_the_facts_of_a_lost_file(vault: Vault) -> None:
    for path in vault.state.glob("index*"):
        path.unlink()
    with pytest.raises(GitFailed, match=PATH):
        open_index(vault)


@pytest.mark.usefixtures("lost")
def test_no_file_of_facts_is_begun_where_one_is_lost(vault: Vault, caller: Caller) -> None:
    """Neither git nor the folder has it: the deletion must not be taken for a person's wish."""
    (vault.root / PATH).unlink()
    head = vault.head()
    fact = draft_from_record({"fact": "Otters sleep.", "entity": "projects/otters"}, caller.now)
    with pytest.raises(GitFailed, match=PATH):
        remember(vault, [fact], caller)
    assert vault.head() == head
    assert not (vault.root / PATH).exists()
