"""A person who commits and edits in both clones while they sync, and one who pulls beside writers, for `make soak`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.person import pull_beside, sync_beside

pytestmark = pytest.mark.soak


def test_two_hundred_syncs_beside_a_person(tmp_path: Path, environment: dict[str, str]) -> None:
    tally = sync_beside(tmp_path, environment, syncs=200, seed=1)
    assert tally["syncs"] == 200 and tally["commits"] > 100 and tally["lines"] > 100, tally


@pytest.mark.parametrize("seed", range(10))
def test_pulls_beside_three_writers(tmp_path: Path, environment: dict[str, str], seed: int) -> None:
    tally = pull_beside(tmp_path, environment, seconds=20, seed=seed)
    assert tally["facts"] > 5 and tally["pull 0"] > 0, tally
