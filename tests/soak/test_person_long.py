"""A person with plain git beside three writers, for `make soak`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.person import work_beside

pytestmark = pytest.mark.soak


@pytest.mark.parametrize("seed", range(4))
def test_a_person_beside_three_writers(vault_root: Path, environment: dict[str, str], seed: int) -> None:
    tally = work_beside(vault_root, environment, seconds=150, writers=3, seed=seed)
    assert tally["facts"] > 100 and tally["commit 0"] > 20, tally
