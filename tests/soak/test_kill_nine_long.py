"""Two thousand kills, for `make soak`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.kill_verbs import kill_heartbeat, kill_remember, kill_supersede

pytestmark = pytest.mark.soak


def test_remember_is_killed_700_times(vault_root: Path, environment: dict[str, str]) -> None:
    tally = kill_remember(vault_root, environment, 700)
    assert tally.killed == 700


def test_supersede_is_killed_700_times(vault_root: Path, environment: dict[str, str]) -> None:
    tally = kill_supersede(vault_root, environment, 700)
    assert tally.killed == 700


def test_heartbeat_is_killed_600_times(vault_root: Path, environment: dict[str, str]) -> None:
    tally = kill_heartbeat(vault_root, environment, 600)
    assert tally.killed == 600
