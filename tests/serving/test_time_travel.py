"""`--at` gives what recall, list and context gave at that commit, whatever happened since."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.serving.histories import check_a_history


@pytest.mark.parametrize("seed", range(20))
def test_at_a_commit_is_what_was_given_then(tmp_path: Path, environment: dict[str, str], seed: int) -> None:
    assert check_a_history(tmp_path / "vault", environment, seed) > 0
