"""Four clones of fifty writes each, and 750 killed syncs, for `make soak`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.kill_sync import kill_sync
from tests.faults.meeting import meet_at_once

pytestmark = pytest.mark.soak


def test_four_clones_of_fifty_writes_each(tmp_path: Path, environment: dict[str, str]) -> None:
    meet_at_once(tmp_path, environment, 4, 50)


def test_sync_is_killed_750_times(tmp_path: Path, environment: dict[str, str]) -> None:
    assert kill_sync(tmp_path, environment, 750).killed == 750
