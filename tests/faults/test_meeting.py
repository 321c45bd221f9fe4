"""Clones that write and sync at the same time, and syncs that are killed."""

from __future__ import annotations

from pathlib import Path

from tests.faults.kill_sync import kill_sync
from tests.faults.meeting import meet_at_once

KILLS = 60


def test_clones_that_meet_at_once_lose_nothing(tmp_path: Path, environment: dict[str, str]) -> None:
    meet_at_once(tmp_path, environment, 3, 6)


def test_sync_is_killed(tmp_path: Path, environment: dict[str, str]) -> None:
    assert kill_sync(tmp_path, environment, KILLS).killed == KILLS
