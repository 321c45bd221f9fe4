"""Facts in a committed file that cannot be read are never omitted silently, and no file is regenerated without them."""

from __future__ import annotations

from pathlib import Path

import pytest

from clawmem.errors import DONE, PARTIAL, USAGE
from clawmem.faces.cli.app import run
from clawmem.memory.facts.remember import remember
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.records.caller import Caller
from clawmem.vault.state.journal import count_accesses, unfolded_accesses
from clawmem.vault.vault import Vault
from tests.conftest import NOW
from tests.faults.checks import git

JANE, BOB = "areas/people/jane", "areas/people/bob"
ITEMS = f"life/{JANE}/items.json"
LINES = {
    "list": PARTIAL,
    "list -e jane": PARTIAL,
    "list -e bob": DONE,
    "list --at HEAD": PARTIAL,
    "recall nuts": PARTIAL,
    "recall tea -e bob": DONE,
    "context nuts": PARTIAL,
    "show BOB": DONE,
    "why BOB": PARTIAL,
    "graph neighbors jane": PARTIAL,
    "entity list": PARTIAL,
    "entity show jane": PARTIAL,
    "entity show bob": DONE,
    "status": PARTIAL,
    "diff": PARTIAL,
    "log JANE": PARTIAL,
    "log": DONE,
    "reindex": PARTIAL,
    "show JANE": USAGE,
    "why JANE": USAGE,
    "tier JANE": USAGE,
    "retract JANE": USAGE,
    "graph neighbors JANE": USAGE,
}


@pytest.fixture
def ids(
    vault: Vault, caller: Caller, environment: dict[str, str], monkeypatch: pytest.MonkeyPatch, without_vectors: None
) -> dict[str, str]:
    """A vault whose file of Jane's facts was committed with the marks of a conflict, after a heartbeat."""
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("CLAWMEM_VAULT", str(vault.root))
    messages = {JANE: "Jane is allergic to nuts.", BOB: "Bob likes tea."}
    drafts = [
        draft_from_record({"fact": words, "entity": name, "importance": 0.9}, NOW) for name, words in messages.items()
    ]
    kept = remember(vault, drafts, caller).facts
    assert run(["heartbeat", "--quiet"]) == DONE
    assert run(["show", kept[0].fact.id, "--quiet"]) == DONE
    place = vault.path(ITEMS)
    place.write_text(place.read_text().replace("[\n", "[\n<<<<<<< HEAD\n", 1))
    git(vault.root, environment, "commit", "--quiet", "--all", "--message", "broke")
    return {remembered_fact.entity: remembered_fact.fact.id for remembered_fact in kept}


def test_every_read_names_the_file(ids: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    for line, code in LINES.items():
        words = line.replace("JANE", ids[JANE]).replace("BOB", ids[BOB]).split()
        found, messages = run([*words, "--quiet"]), capsys.readouterr().err
        assert (found, ITEMS in messages) == (code, code != DONE), (line, messages)
        assert "is not in the vault" not in messages
        assert "No fact has" not in messages


def test_the_heartbeat_makes_nothing_anew_without_those_facts(
    ids: dict[str, str], vault: Vault, capsys: pytest.CaptureFixture[str], caller: Caller
) -> None:
    remember(vault, [draft_from_record({"fact": "Bob likes rain.", "entity": BOB}, NOW)], caller)
    pages = ("MEMORY.md", "life/index.md", f"life/{JANE}/summary.md", "daily/2026-11-21.md")
    before = [vault.read_text(page) for page in pages]
    assert "nuts" in (before[0] or "")
    capsys.readouterr()
    assert run(["heartbeat", "--quiet"]) == PARTIAL
    assert f"memory failed: {ITEMS}:2 still has the markers" in capsys.readouterr().err
    assert [vault.read_text(page) for page in pages] == before
    assert "Bob likes rain." in (vault.read_text(f"life/{BOB}/summary.md") or "")
    assert ids[JANE] in count_accesses(unfolded_accesses(vault))
    assert run(["synthesize", "--quiet"]) == PARTIAL


def test_a_backup_says_that_it_holds_what_nobody_can_read(
    ids: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    capsys.readouterr()
    assert run(["backup", str(tmp_path / "memory.clawmem"), "--quiet"]) == PARTIAL
    assert "not readable and not counted: 1 file" in capsys.readouterr().err


def test_a_heartbeat_tells_of_edits_that_it_cannot_take_in(
    vault: Vault,
    environment: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    without_vectors: None,
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("CLAWMEM_VAULT", str(vault.root))
    page = vault.path(f"daily/{NOW:%Y-%m-%d}.md")
    page.parent.mkdir(exist_ok=True)
    page.write_bytes("- Über alles\n".encode("latin-1"))
    for _ in range(2):
        assert run(["heartbeat", "--quiet"]) == PARTIAL
        messages = capsys.readouterr().err
        assert messages.count("daily/2026-11-21.md:1 cannot be read: it is not UTF-8 text") == 1, messages
