"""`git pull` and the next command end with the tree that `sync` ends with, whatever both sides did."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.memory.pairs import POLICIES, differing, make_pair_template

_NORMAL, _LONG = range(12), range(12, 82)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two machines, made once; each pair begins with a copy."""
    from tests.conftest import _environment

    folder = tmp_path_factory.mktemp("pairs")
    return make_pair_template(folder, _environment(folder / "home"))


@pytest.mark.few(2)
@pytest.mark.parametrize("seed", _NORMAL, ids=lambda seed: f"{POLICIES[seed % len(POLICIES)]}-{seed}")
def test_both_roads_lead_to_one_tree(seed: int, template: Path, tmp_path: Path, environment: Mapping[str, str]) -> None:
    files, items = differing(seed, template, tmp_path, environment)
    assert files == [], items


@pytest.mark.soak
@pytest.mark.parametrize("seed", _LONG)
def test_seventy_more_pairs(seed: int, template: Path, tmp_path: Path, environment: Mapping[str, str]) -> None:
    files, items = differing(seed, template, tmp_path, environment)
    assert files == [], items
