"""kill -9 at random moments of `backup`, `restore` and upkeep; some two thousand more under soak."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.kill_copies import kill_backup, kill_restore, kill_upkeep

# Under soak three thousand with the syncs, 750 of each of the four.
BACKUP, RESTORE, UPKEEP = 2, 2, 1
SOAK = 750


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A place for copies."""
    place = tmp_path / "copies"
    place.mkdir()
    return place


def test_backup_is_killed(vault_root: Path, environment: dict[str, str], folder: Path) -> None:
    assert kill_backup(vault_root, environment, BACKUP, folder).killed == BACKUP


def test_restore_is_killed(vault_root: Path, environment: dict[str, str], folder: Path) -> None:
    assert kill_restore(vault_root, environment, RESTORE, folder).killed == RESTORE


@pytest.mark.usefixtures("without_vectors")
def test_upkeep_is_killed(vault_root: Path, environment: dict[str, str]) -> None:
    assert kill_upkeep(vault_root, environment, UPKEEP).killed == UPKEEP


@pytest.mark.soak
def test_backup_is_killed_750_times(vault_root: Path, environment: dict[str, str], folder: Path) -> None:
    assert kill_backup(vault_root, environment, SOAK, folder).killed == SOAK


@pytest.mark.soak
def test_restore_is_killed_750_times(vault_root: Path, environment: dict[str, str], folder: Path) -> None:
    assert kill_restore(vault_root, environment, SOAK, folder).killed == SOAK


@pytest.mark.soak
@pytest.mark.usefixtures("without_vectors")
def test_upkeep_is_killed_750_times(vault_root: Path, environment: dict[str, str]) -> None:
    assert kill_upkeep(vault_root, environment, SOAK).killed == SOAK
