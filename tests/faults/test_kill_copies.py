"""kill -9 at random moments of `backup`, `restore` and upkeep; a thousand more under soak."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.kill_copies import kill_backup, kill_restore, kill_upkeep

EACH = 30


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A place for copies."""
    place = tmp_path / "copies"
    place.mkdir()
    return place


def test_backup_is_killed(vault_root: Path, environment: dict[str, str], folder: Path) -> None:
    assert kill_backup(vault_root, environment, EACH, folder).killed == EACH


def test_restore_is_killed(vault_root: Path, environment: dict[str, str], folder: Path) -> None:
    assert kill_restore(vault_root, environment, EACH, folder).killed == EACH


def test_upkeep_is_killed(vault_root: Path, environment: dict[str, str]) -> None:
    assert kill_upkeep(vault_root, environment, EACH).killed == EACH


@pytest.mark.soak
def test_backup_is_killed_333_times(vault_root: Path, environment: dict[str, str], folder: Path) -> None:
    assert kill_backup(vault_root, environment, 333, folder).killed == 333


@pytest.mark.soak
def test_restore_is_killed_333_times(vault_root: Path, environment: dict[str, str], folder: Path) -> None:
    assert kill_restore(vault_root, environment, 333, folder).killed == 333


@pytest.mark.soak
def test_upkeep_is_killed_334_times(vault_root: Path, environment: dict[str, str]) -> None:
    assert kill_upkeep(vault_root, environment, 334).killed == 334
