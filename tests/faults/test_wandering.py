"""Random histories of three to five clones: one tree in the end, each id once, nothing withdrawn active or lost."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.conftest import _environment
from tests.faults.wandering import make_template, wander

_STEPS = 12


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The machines, made once; each history begins with a copy."""
    folder = tmp_path_factory.mktemp("wandering")
    return make_template(folder, _environment(folder / "home"))


@pytest.mark.few(1)
@pytest.mark.parametrize("seed", range(200, 240))
def test_clones_that_wander_end_alike(
    seed: int, template: Path, tmp_path: Path, environment: Mapping[str, str]
) -> None:
    wander(seed, template, tmp_path, environment, _STEPS)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(1000, 1300))
def test_three_hundred_longer_histories(
    seed: int, template: Path, tmp_path: Path, environment: Mapping[str, str]
) -> None:
    wander(seed, template, tmp_path, environment, _STEPS + 2)
