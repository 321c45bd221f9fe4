"""kill -9 at random moments of real commands: at least two hundred in every test run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.kill_verbs import kill_heartbeat, kill_remember, kill_supersede

REMEMBER, SUPERSEDE, HEARTBEAT, EMBEDDING = 90, 75, 32, 6


def test_remember_is_killed(vault_root: Path, environment: dict[str, str]) -> None:
    done = kill_remember(vault_root, environment, REMEMBER)
    assert done.killed == REMEMBER


def test_supersede_is_killed(vault_root: Path, environment: dict[str, str]) -> None:
    done = kill_supersede(vault_root, environment, SUPERSEDE)
    assert done.killed == SUPERSEDE


@pytest.mark.usefixtures("without_vectors")
def test_heartbeat_is_killed(vault_root: Path, environment: dict[str, str]) -> None:
    done = kill_heartbeat(vault_root, environment, HEARTBEAT)
    assert done.killed == HEARTBEAT


def test_heartbeat_is_killed_while_it_makes_vectors(vault_root: Path, environment: dict[str, str]) -> None:
    done = kill_heartbeat(vault_root, environment, EMBEDDING)
    assert done.killed == EMBEDDING
