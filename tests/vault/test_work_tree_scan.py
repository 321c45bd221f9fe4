"""Finding edits made by hand: every file in new folders, however many, and the cache that makes it fast."""

from __future__ import annotations

from pathlib import Path

import pytest

from clawmem.vault.vault import Vault
from clawmem.vault.work_tree import finish_scan, start_scan
from tests.faults.scenarios import keep

MANY = 401


@pytest.fixture
def shelf(vault: Vault) -> Path:
    """A folder that git knows, for new ones beside it."""
    keep(vault, "The shelf is old.", entity="resources/shelf")
    return vault.root / "life/resources"


def found(vault: Vault) -> list[str]:
    """The folders of the files that a scan finds."""
    return [Path(path).parent.name for path in finish_scan(vault, start_scan(vault))]


def test_every_new_folder_is_found(vault: Vault, shelf: Path) -> None:
    names = sorted(f"new-{number:03}" for number in range(MANY))
    for name in names:
        (shelf / name).mkdir()
        (shelf / name / "items.json").write_text("[]\n")
    assert found(vault) == names


def test_an_ignored_file_in_a_new_folder_is_left_alone(vault: Vault, shelf: Path) -> None:
    (vault.root / ".git/info/exclude").write_text("life/resources/new/private/\n")
    for name in ("new", "new/private"):
        (shelf / name).mkdir()
        (shelf / name / "items.json").write_text("[]\n")
    assert found(vault) == ["new"]


def test_a_staged_rename_is_a_file_less_and_a_file_more(vault: Vault, shelf: Path) -> None:
    (shelf / "board").mkdir()
    vault.git.run("mv", "life/resources/shelf/items.json", "life/resources/board/items.json")
    assert found(vault) == ["board", "shelf"]
