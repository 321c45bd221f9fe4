"""A committed file that cannot be read: which commit has it whole, and that what the hint says brings it back."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from clawmem.errors import ConflictMarkers, Unreadable
from clawmem.memory.facts.remember import remember
from clawmem.model.facts.draft import draft_from_record
from clawmem.model.records.caller import Caller
from clawmem.vault.edits.hand_edits import last_readable_commit, unreadable_files
from clawmem.vault.vault import Vault
from tests.faults.checks import git

JANE = "areas/people/jane"
ITEMS = f"life/{JANE}/items.json"


def marks(text: str) -> str:
    return text.replace("[\n", "[\n<<<<<<< HEAD\n", 1).replace("\n]", "\n=======\n>>>>>>> other\n]", 1)


def cut(text: str) -> str:
    return text[: len(text) // 2]


def keep(vault: Vault, caller: Caller, statement: str) -> None:
    remember(vault, [draft_from_record({"fact": statement, "entity": JANE}, caller.now)], caller)


@pytest.mark.parametrize(("harm", "kind"), [(marks, ConflictMarkers), (cut, Unreadable)])
def test_the_hint_brings_everything_back(
    vault: Vault,
    caller: Caller,
    environment: dict[str, str],
    harm: Callable[[str], str],
    kind: type[ConflictMarkers | Unreadable],
) -> None:
    keep(vault, caller, "Jane is allergic to nuts.")
    keep(vault, caller, "Jane plays the cello.")
    whole, place = vault.head().commit, vault.path(ITEMS)
    before = place.read_text()
    for harmed in (harm(before), harm(before) + "\n"):
        place.write_text(harmed)
        git(vault.root, environment, "commit", "--quiet", "--all", "--message", "by hand")
    assert last_readable_commit(vault, ITEMS) == whole
    with pytest.raises(kind) as raised:
        keep(vault, caller, "Jane lives in Oslo.")
    assert unreadable_files(vault, [ITEMS, "MEMORY.md"])[ITEMS].hint == raised.value.hint
    command = re.search(r"`git (checkout [0-9a-f]{12} -- \S+)`", raised.value.hint)
    assert command
    git(vault.root, environment, *command[1].split())
    assert place.read_text() == before
    keep(vault, caller, "Jane lives in Oslo.")
    assert [line in place.read_text() for line in ("nuts", "cello", "Oslo")] == [True] * 3
    assert unreadable_files(vault, [ITEMS]) == {}
    assert git(vault.root, environment, "status", "--porcelain") == ""


def test_a_commit_that_deleted_the_file_does_not_bring_it_back(
    vault: Vault, caller: Caller, environment: dict[str, str]
) -> None:
    keep(vault, caller, "Jane is allergic to nuts.")
    whole = vault.head().commit
    git(vault.root, environment, "rm", "--quiet", ITEMS)
    git(vault.root, environment, "commit", "--quiet", "--message", "gone")
    vault.path(ITEMS).write_text("[{")
    git(vault.root, environment, "add", ITEMS)
    git(vault.root, environment, "commit", "--quiet", "--message", "half of it")
    assert last_readable_commit(vault, ITEMS) == whole


def test_a_file_that_was_never_whole_can_only_be_repaired(vault: Vault, caller: Caller) -> None:
    place = vault.path(ITEMS)
    place.parent.mkdir(parents=True)
    place.write_text("[{")
    with pytest.raises(Unreadable, match="cannot be read") as raised:
        keep(vault, caller, "Jane lives in Oslo.")
    assert raised.value.hint == f"Repair the file by hand: {ITEMS} is readable in no commit."


def test_an_edit_that_was_not_committed_is_brought_back_from_head(vault: Vault, caller: Caller) -> None:
    keep(vault, caller, "Jane is allergic to nuts.")
    vault.path(ITEMS).write_text("[{")
    with pytest.raises(Unreadable) as raised:
        keep(vault, caller, "Jane lives in Oslo.")
    assert "`clawmem doctor --fix`, which keeps what is in it; a heartbeat does so after an hour" in raised.value.hint
