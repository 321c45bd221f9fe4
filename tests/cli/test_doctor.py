"""`clawmem doctor` as a process: what it prints, its JSON, its exit codes."""

from __future__ import annotations

from pathlib import Path

from tests.conftest import Command

ITEMS = "life/areas/people/jane/items.json"


def test_a_sound_vault(clawmem: Command) -> None:
    clawmem("remember", "Jane likes tea.", "--entity", "areas/people/jane")
    done = clawmem("doctor", "--full")
    assert done.code == 0, done
    assert done.out.splitlines()[-1] == "0 errors, 0 warnings, 0 info."
    assert done.err == ""
    data = clawmem("doctor", "--json").data
    assert data["problems"] == []
    assert data["checked"]["facts"] == 1


def test_an_error_is_exit_code_1_with_file_and_line(clawmem: Command, vault_root: Path) -> None:
    clawmem("remember", "Jane likes tea.", "--entity", "areas/people/jane")
    place = vault_root / ITEMS
    place.write_text(place.read_text().replace('"active"', '"lost"'))
    done = clawmem("doctor")
    assert done.code == 1
    assert f"error  {ITEMS}:2  " in done.out
    assert "the status 'lost'" in done.out
    told = clawmem("doctor", "--json")
    assert (told.code, told.json["ok"]) == (1, True)
    (problem,) = [one for one in told.data["problems"] if one["severity"] == "error"]
    assert sorted(problem) == ["check", "fixable", "fixed", "line", "message", "path", "severity"]
    assert (problem["path"], problem["line"], problem["check"]) == (ITEMS, 2, "items")


def test_fix_mends_and_says_so(clawmem: Command, vault_root: Path) -> None:
    clawmem("remember", "Jane likes tea.", "--entity", "areas/people/jane")
    (vault_root / "life/areas/people/jane/summary.md").write_text("# Jane\n")
    before = clawmem("doctor")
    assert (before.code, "clawmem doctor --fix" in before.out) == (0, True)
    done = clawmem("doctor", "--fix")
    assert done.code == 0
    assert "mended  life/areas/people/jane/summary.md" in done.out
    assert "Jane likes tea." in (vault_root / "life/areas/people/jane/summary.md").read_text()
    assert len(clawmem("doctor", "--fix", "--json").data["commits"]) == 0


def test_a_merge_conflict_is_named(clawmem: Command, vault_root: Path) -> None:
    clawmem("remember", "Jane likes tea.", "--entity", "areas/people/jane")
    place = vault_root / ITEMS
    place.write_text(place.read_text().replace("[\n", "[\n<<<<<<< HEAD\n"))
    done = clawmem("doctor")
    assert done.code == 1
    assert f"error  {ITEMS}:2  The marks of a merge conflict" in done.out
