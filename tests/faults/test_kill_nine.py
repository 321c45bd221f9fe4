"""kill -9 at random moments of real commands: eight in a normal run, seven hundred under soak."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.kill_verbs import kill_heartbeat, kill_remember, kill_supersede

REMEMBER, SUPERSEDE, HEARTBEAT, EMBEDDING = 3, 3, 1, 1
TIMES = pytest.mark.parametrize("times", [1, pytest.param(90, marks=pytest.mark.soak)])


@TIMES
def test_remember_is_killed(vault_root: Path, environment: dict[str, str], times: int) -> None:
    tally = kill_remember(vault_root, environment, REMEMBER * times)
    assert tally.killed == REMEMBER * times


@TIMES
def test_supersede_is_killed(vault_root: Path, environment: dict[str, str], times: int) -> None:
    tally = kill_supersede(vault_root, environment, SUPERSEDE * times)
    assert tally.killed == SUPERSEDE * times


@pytest.mark.usefixtures("without_vectors")
@TIMES
def test_heartbeat_is_killed(vault_root: Path, environment: dict[str, str], times: int) -> None:
    tally = kill_heartbeat(vault_root, environment, HEARTBEAT * times)
    assert tally.killed == HEARTBEAT * times


@TIMES
def test_heartbeat_is_killed_while_it_makes_vectors(vault_root: Path, environment: dict[str, str], times: int) -> None:
    tally = kill_heartbeat(vault_root, environment, EMBEDDING * times)
    assert tally.killed == EMBEDDING * times
