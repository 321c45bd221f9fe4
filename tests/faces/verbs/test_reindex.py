"""`clawmem reindex` as a process."""

from __future__ import annotations

from pathlib import Path

from tests.conftest import Command
from tests.faults.checks import git


def test_it_counts_what_it_indexed(clawmem: Command) -> None:
    clawmem("remember", "Jane likes tea", "-e", "areas/people/jane")
    clawmem("remember", "Ravi plays chess", "-e", "projects/apollo")
    result = clawmem("reindex", "--json")
    assert result.code == 0, result.err
    data = result.data
    assert (data["facts"], data["events"], data["entities"], data["engine"]) == (2, 0, 2, "fts5")
    assert 0 < data["seconds"] < 30
    assert data["size"] > 10_000
    assert set(data) == {"facts", "events", "entities", "engine", "seconds", "size"}


def test_people_get_a_sentence(clawmem: Command) -> None:
    clawmem("remember", "Jane likes tea", "-e", "areas/people/jane")
    result = clawmem("reindex")
    assert result.code == 0
    assert result.out.startswith("indexed 1 fact, 0 events and 1 entity in ")
    assert result.out.endswith(" MB (fts5)\n")


def test_a_damaged_index_is_replaced(clawmem: Command, vault_root: Path) -> None:
    clawmem("remember", "Jane likes tea")
    path = vault_root / ".git/clawmem/index.sqlite"
    path.write_bytes(b"garbage")
    assert clawmem("reindex").code == 0
    assert [fact["fact"] for fact in clawmem("recall", "tea", "--json").data["facts"]] == ["Jane likes tea"]


def test_a_file_that_cannot_be_read_is_named(clawmem: Command, vault_root: Path, environment: dict[str, str]) -> None:
    clawmem("remember", "Jane likes tea", "-e", "projects/apollo")
    (vault_root / "life/projects/apollo/items.json").write_text("[\n{oops}\n]\n")
    git(vault_root, environment, "commit", "--quiet", "--all", "-m", "oops")
    result = clawmem("reindex", "--json")
    assert result.code == 4
    assert result.data["facts"] == 0
    assert "life/projects/apollo/items.json" in result.json["notices"][0]


def test_an_index_that_cannot_be_kept_is_an_error(clawmem: Command, vault_root: Path) -> None:
    clawmem("remember", "Jane likes tea")
    path = vault_root / ".git/clawmem/index.sqlite"
    path.unlink()
    path.mkdir()
    result = clawmem("reindex", "--json")
    assert result.code == 1
    assert result.json["error"]["code"] == "storage"
    assert "index cannot be stored" in result.json["error"]["message"]
    assert clawmem("recall", "tea").code == 0
