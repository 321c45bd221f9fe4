"""A query that names no scope: the facts of other projects are hidden inside a repository, and shown outside."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import Command, Once, Result

pytestmark = pytest.mark.usefixtures("without_vectors")

SHOP = "https://example.org/me/shop.git"
QUERIES = (
    ("context", "uploads"),
    ("recall", "uploads"),
    ("precedent", "uploads"),
    ("lesson", "list"),
    ("lesson", "search", "uploads"),
    ("decision", "list"),
    ("list",),
)


@pytest.fixture
def ask(clawmem: Command, vault_root: Path) -> Callable[..., Result]:
    """Run a command in a folder that is not the vault."""

    def run(*arguments: str, cwd: Path) -> Result:
        return clawmem(*arguments, cwd=cwd, env={"CLAWMEM_VAULT": str(vault_root)})

    return run


@pytest.fixture
def projects(once: Once, tmp_path: Path, ask: Callable[..., Result]) -> dict[str, Path]:
    """Two repositories, the home folder, and a vault that knows facts of the first and of everybody."""
    made = {name: tmp_path / name for name in ("shop", "other")}
    for name, folder in made.items():
        (folder / ".git" / "objects").mkdir(parents=True)
        (folder / ".git" / "refs").mkdir()
        (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
        (folder / ".git" / "config").write_text(f'[remote "origin"]\n\turl = https://example.org/me/{name}.git\n')

    def build() -> None:
        ask("lesson", "add", "Uploads are sent in small chunks.", cwd=made["shop"])
        ask("decision", "add", "Stream the uploads to the disk.", "--why", "memory", cwd=made["shop"])
        for category in ("lesson", "decision"):
            words = f"The {category} on uploads: free for everybody."
            ask("remember", words, "--category", category, "--scope", "organisation", cwd=made["shop"])

    once(build)
    return {**made, "home": tmp_path / "home"}


@pytest.mark.parametrize("query", QUERIES, ids=" ".join)
def test_another_projects_facts_are_hidden_in_a_repository(
    ask: Callable[..., Result], projects: dict[str, Path], query: tuple[str, ...]
) -> None:
    record = {name: ask(*query, cwd=folder).out for name, folder in projects.items()}
    own = {name: "small chunks" in text or "Stream the uploads" in text for name, text in record.items()}
    assert own == {"shop": True, "other": False, "home": True}
    assert all("free for everybody" in text for text in record.values())
    if query[0] != "context":
        assert "project shop" in record["home"]
        everything = ask(*query, "--scope", "all", cwd=projects["other"]).out
        assert "project shop" in everything
        assert "project shop" in ask(*query, "--project", SHOP, cwd=projects["other"]).out


@pytest.mark.parametrize("verb", ["recall", "context"])
def test_what_a_scope_hides_is_named_where_it_answers(
    ask: Callable[..., Result], projects: dict[str, Path], verb: str
) -> None:
    hidden = "1 more in projects/shop, of another project or scope: --scope all"
    assert hidden in ask(verb, "Which uploads are streamed to the disk?", cwd=projects["other"]).err
    assert "--scope all" not in ask(verb, "Which uploads are streamed to the disk?", cwd=projects["shop"]).err
    assert "--scope all" not in ask(verb, "Where does Jane live?", cwd=projects["other"]).err
    assert "--scope all" not in ask(verb, "streamed disk", "--scope", "all", cwd=projects["other"]).err


def test_a_list_counts_what_a_scope_hides(ask: Callable[..., Result], projects: dict[str, Path]) -> None:
    for query, count in ((("list",), 2), (("lesson", "list"), 1), (("decision", "list"), 1)):
        assert f"{count} more of another project or scope: --scope all" in ask(*query, cwd=projects["other"]).err
        assert "--scope all" not in ask(*query, cwd=projects["shop"]).err + ask(*query, cwd=projects["home"]).err


def test_a_folder_without_a_repository_is_no_project(
    ask: Callable[..., Result], projects: dict[str, Path], tmp_path: Path
) -> None:
    (tmp_path / "papers").mkdir()
    ask("decision", "add", "Aurora uses Adyen.", "--why", "invoices", "-e", "projects/aurora", cwd=tmp_path / "papers")
    ask("lesson", "add", "Adyen needs a day for invoices.", cwd=tmp_path / "papers")
    for query in (("decision", "list"), ("list",), ("recall", "Adyen")):
        assert "Aurora uses Adyen." in ask(*query, cwd=projects["other"]).out
    assert "papers" not in ask("entity", "list", cwd=projects["home"]).out + ask("list", cwd=projects["home"]).out


def test_the_scope_all_is_for_queries_alone(ask: Callable[..., Result], projects: dict[str, Path]) -> None:
    assert ask("recall", "uploads", "--scope", "all", "--workflow", "x", cwd=projects["other"]).code == 2
    assert ask("remember", "A fact.", "--scope", "all", cwd=projects["other"]).code == 2


def test_the_shared_page_lists_no_facts_of_a_project(
    ask: Callable[..., Result], projects: dict[str, Path], vault_root: Path
) -> None:
    ask("heartbeat", cwd=projects["home"])
    page = (vault_root / "MEMORY.md").read_text()
    assert "free for everybody" in page and "small chunks" not in page and "Stream the uploads" not in page
