"""A thousand random histories, each gone back to commit by commit, for `make soak`."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.serving.histories import check_a_history

pytestmark = pytest.mark.soak


@pytest.mark.parametrize("hundred", range(10))
def test_a_hundred_histories_are_what_they_were(tmp_path: Path, environment: dict[str, str], hundred: int) -> None:
    points = [check_a_history(tmp_path / str(n), environment, 1000 + 100 * hundred + n) for n in range(100)]
    assert len(points) == 100
    assert min(points) > 0
