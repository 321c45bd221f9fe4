"""`clawmem doctor` as a process: what it prints, its JSON, its exit codes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Command
from tests.faults.checks import git

pytestmark = pytest.mark.usefixtures("without_vectors")

ITEMS = "life/areas/people/jane/items.json"


def test_a_sound_vault(clawmem: Command) -> None:
    clawmem("remember", "Jane likes tea.", "--entity", "areas/people/jane")
    result = clawmem("doctor", "--full")
    assert result.code == 0, result
    assert result.out.splitlines()[-1] == "0 errors, 0 warnings, 0 info."
    assert result.err == ""
    data = clawmem("doctor", "--json").data
    assert data["problems"] == []
    assert data["checked"]["facts"] == 1


def test_an_error_is_exit_code_1_with_file_and_line(clawmem: Command, vault_root: Path) -> None:
    clawmem("remember", "Jane likes tea.", "--entity", "areas/people/jane")
    place = vault_root / ITEMS
    place.write_text(place.read_text().replace('"active"', '"lost"'))
    outcome = clawmem("doctor")
    assert outcome.code == 1
    assert f"error  {ITEMS}:2  " in outcome.out
    assert "the status 'lost'" in outcome.out
    result = clawmem("doctor", "--json")
    assert (result.code, result.json["ok"]) == (1, True)
    (problem,) = [other_problem for other_problem in result.data["problems"] if other_problem["severity"] == "error"]
    assert sorted(problem) == ["check", "fixable", "fixed", "line", "message", "path", "severity"]
    assert (problem["path"], problem["line"], problem["check"]) == (ITEMS, 2, "items")


def test_fix_mends_and_says_so(clawmem: Command, vault_root: Path) -> None:
    clawmem("remember", "Jane likes tea.", "--entity", "areas/people/jane")
    (vault_root / "life/areas/people/jane/summary.md").write_text("# Jane\n")
    before = clawmem("doctor")
    assert (before.code, "clawmem doctor --fix" in before.out) == (0, True)
    result = clawmem("doctor", "--fix")
    assert result.code == 0
    assert "repaired  life/areas/people/jane/summary.md" in result.out
    assert "Jane likes tea." in (vault_root / "life/areas/people/jane/summary.md").read_text()
    assert len(clawmem("doctor", "--fix", "--json").data["commits"]) == 0


def test_a_merge_conflict_is_named(clawmem: Command, vault_root: Path) -> None:
    clawmem("remember", "Jane likes tea.", "--entity", "areas/people/jane")
    place = vault_root / ITEMS
    place.write_text(place.read_text().replace("[\n", "[\n<<<<<<< HEAD\n"))
    result = clawmem("doctor")
    assert result.code == 1
    assert f"error  {ITEMS}:2  The marks of a merge conflict" in result.out


def test_whatever_the_verbs_do_leaves_a_sound_vault(clawmem: Command) -> None:
    def kept(*arguments: str) -> str:
        result = clawmem(*arguments, "--json")
        assert result.code == 0, result
        return str(result.data["facts"][0]["id"])

    oslo = kept("remember", "Jane lives in Oslo.", "--entity", "areas/people/jane", "--subject", "Jane")
    porto = kept("supersede", oslo, "Jane lives in Porto.")
    tea = kept("remember", "Jane likes tea.", "--entity", "areas/people/jane")
    green = kept("remember", "Jane likes green tea.", "--entity", "areas/people/jane")
    kept("merge", tea, green, "--into", "Jane likes tea, green tea above all.")
    launch = kept("remember", "The launch is in May.", "--entity", "projects/launch", "--related", "areas/people/jane")
    steps = [
        ("link", launch, porto, "--type", "supports"),
        ("agent", "create", "finance"),
        ("remember", "The budget is tight.", "--entity", "@finance/projects/budget"),
        ("note", "met Jane"),
        ("recall", "where does Jane live?"),
        ("heartbeat",),
        ("retract", launch, "--reason", "it moved"),
        ("entity", "move", "projects/launch", "archives/launch"),
        ("entity", "rename", "areas/people/jane", "jane-doe"),
        ("undo", "HEAD"),
    ]
    for step in steps:
        result = clawmem(*step)
        assert result.code == 0, (step, result)
    lines = '{"role": "user", "content": "I live in Bergen. My sister Anna works at Equinor.", "id": "m1"}\n'
    assert clawmem("ingest", "-", given=lines).code == 0
    assert clawmem("heartbeat").code == 0
    assert [
        problem for problem in clawmem("doctor", "--full", "--json").data["problems"] if problem["severity"] != "info"
    ] == []


def test_many_remarks_of_a_kind_are_summed_up(clawmem: Command, vault_root: Path) -> None:
    for number in range(12):
        (vault_root / f"wiki/page-{number:02}.md").write_text("A page.\n")
        (vault_root / f"daily/photo-{number:02}.png").write_bytes(b"x")
    (vault_root / "life/projects/Bad Name").mkdir()
    for name in ("items.json", "summary.md"):
        (vault_root / "life/projects/Bad Name" / name).write_text("[\n]\n")
    lines = clawmem("doctor").out.splitlines()
    assert [line for line in lines if line.startswith("info") and "[not-committed]" in line] == [
        "info  wiki/page-00.md  The file differs from HEAD; the next change commits it.  [not-committed]"
        "  and 11 similar ones: --full shows them"
    ]
    assert len([line for line in lines if line.startswith("info") and "[left-alone]" in line]) == 2
    assert len([line for line in lines if "[foreign-file]" in line]) == 1
    assert len([line for line in lines if line.startswith("error") and "[entity-name]" in line]) == 1
    assert [line for line in lines if line.endswith(", 27 info.")]
    everything = clawmem("doctor", "--full").out.splitlines()
    assert len([line for line in everything if "[not-committed]" in line]) == 12
    assert (
        len([problem for problem in clawmem("doctor", "--json").data["problems"] if problem["severity"] == "info"])
        == 27
    )


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
