"""kill -9 at random moments of real commands: at least two hundred in every test run."""

from __future__ import annotations

from pathlib import Path

from tests.faults.kill_verbs import kill_heartbeat, kill_remember, kill_supersede

REMEMBER, SUPERSEDE, HEARTBEAT = 80, 70, 60


def test_remember_is_killed(vault_root: Path, environment: dict[str, str]) -> None:
    done = kill_remember(vault_root, environment, REMEMBER)
    assert done.killed == REMEMBER


def test_supersede_is_killed(vault_root: Path, environment: dict[str, str]) -> None:
    done = kill_supersede(vault_root, environment, SUPERSEDE)
    assert done.killed == SUPERSEDE


def test_heartbeat_is_killed(vault_root: Path, environment: dict[str, str]) -> None:
    done = kill_heartbeat(vault_root, environment, HEARTBEAT)
    assert done.killed == HEARTBEAT
