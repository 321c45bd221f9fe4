"""Single files of the work tree: what is written, what stays because somebody edited it, and what is too large."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from clawmem.errors import Locked
from clawmem.model.facts.codec import parse_items, render_items
from clawmem.model.facts.fact import Fact
from clawmem.model.records.strict_json import YAML_BYTES, UnreadFile
from clawmem.vault.commit.transaction import transaction
from clawmem.vault.disk import PARTIAL_PREFIX
from clawmem.vault.vault import Vault
from clawmem.vault.work_tree import update_file, write_file
from tests.conftest import NOW, Command
from tests.faults.checks import git

PATH = "projects/boat/plan.yaml"


def test_a_file_that_somebody_edited_stays(vault: Vault) -> None:
    assert update_file(vault, PATH, None, b"a: 1\n")
    assert not update_file(vault, PATH, b"a: 0\n", b"a: 2\n")
    assert vault.read(PATH) == b"a: 1\n"
    assert update_file(vault, PATH, b"a: 0\n", b"a: 1\n"), "it has these contents already"
    assert update_file(vault, PATH, b"a: 1\n", None)
    assert not vault.path(PATH).parent.exists()


@pytest.mark.parametrize(("path", "left"), [("notes.md", b"two\nmine\n"), ("graph.json", b"one\nmine\n")])
def test_what_was_added_at_the_end_stays_and_no_json_is_put_together(vault: Vault, path: str, left: bytes) -> None:
    write_file(vault, path, b"one\nmine\n")
    assert not update_file(vault, path, b"one\n", b"two\n")
    assert vault.read(path) == left


def test_an_edit_of_what_was_read_and_forgotten_is_noticed(vault: Vault) -> None:
    with transaction(vault, NOW, "test") as started:
        started.read("MEMORY.md")
        started.read_set.release()
        (vault.root / "MEMORY.md").write_text("# Mine\n")
        with pytest.raises(Locked, match="edited while this ran"):
            started.read("MEMORY.md")


def test_an_edit_in_the_workspace_of_an_agent_is_found_by_the_next_question(clawmem: Command, vault: Vault) -> None:
    assert clawmem("agent", "create", "scout").code == 0
    place = ("-e", "@scout/areas/notes", "--agent", "scout")
    assert clawmem("remember", "The boat is red.", *place).code == 0
    (items,) = vault.root.glob("agents/scout/**/items.json")
    items.write_text(items.read_text().replace("red", "blue"))
    assert "The boat is blue." in clawmem("show", "@scout/areas/notes").out


def test_facts_that_are_edited_at_the_moment_of_a_change_stay_with_those_of_the_change(vault: Vault) -> None:
    """A person who commits all with git would take out what a command reported as saved."""
    known, new, mine = (
        Fact(f"fact_0000000{n}", f"Jane has {n} boats.", "fact", "2026-11-21T09:00:00Z", "user") for n in range(3)
    )
    path = "life/areas/boats/items.json"

    def left(edit: tuple[Fact, ...], after: tuple[Fact, ...]) -> set[str]:
        write_file(vault, path, render_items(edit))
        assert not update_file(vault, path, render_items((known,)), render_items(after))
        return {fact.fact for fact in parse_items(vault.read(path) or b"", path)}

    assert left((known, mine), (known, new)) == {known.fact, new.fact, mine.fact}
    assert left((mine,), (known, new)) == {new.fact, mine.fact}
    reworded = known._replace(fact="Jane has a yawl.")
    assert left((reworded,), (known._replace(fact="Jane has a dinghy."), new)) == {reworded.fact}
    write_file(vault, path, b"[\n")
    assert not update_file(vault, path, render_items((known,)), render_items((known, new)))
    assert vault.read(path) == b"[\n"


def test_a_file_too_large_to_read_is_written_by_git(vault: Vault, environment: dict[str, str]) -> None:
    data = b"# long\n" * (YAML_BYTES // 4)
    source = vault.root.parent / "source.yaml"
    source.write_bytes(data)
    blob = git(vault.root, environment, "hash-object", "-w", str(source)).strip()
    write_file(vault, PATH, UnreadFile.of(blob, len(data), YAML_BYTES))
    assert vault.path(PATH).read_bytes() == data
    assert not [path for path in vault.state.iterdir() if path.name.startswith(PARTIAL_PREFIX)]


def test_an_edit_is_seen_after_git_status_too(clawmem: Command, vault_root: Path) -> None:
    clawmem("remember", "The laptop runs Fedora 70.")
    items = vault_root / "life/areas/general/items.json"
    for number in range(71, 74):
        items.write_text(items.read_text().replace(f"Fedora {number - 1}", f"Fedora {number}"))
        subprocess.run(["git", "-C", str(vault_root), "status"], check=True, capture_output=True)
        for verb in ("recall", "context")[:: 1 if number % 2 else -1]:
            assert f"Fedora {number}." in clawmem(verb, "laptop").out
